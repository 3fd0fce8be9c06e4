"""The page that runs this package in the browser: its figures are the command line's; nothing leaves."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from release import chromium

from tflm_sim import __version__, load, smallest_arena
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.page.cli import make_server
from tflm_sim.extensions.page.planners import compiled_planners
from tflm_sim.extensions.page.site import PYODIDE_VERSION, package_archive, read_pyodide, site_files
from tflm_sim.extensions.shrink.shrink import shrink
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import SAMPLES, sample_path

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "firmware"))
import elf_program  # noqa: E402

PYODIDE = ROOT / ".venv" / f"pyodide-{PYODIDE_VERSION}.tgz"
NUMPY = ROOT / ".venv" / "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
SHARED = ROOT.parent / "shared" / "models"
FAINT_BORDERS = """(() => {
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\\d.]+/g).map((each) => channel(each / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (...colors) => {
    const [dark, light] = colors.map(luminance).sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return color.endsWith(", 0)") ? behind(element.parentElement) : color;
  };
  return [...document.querySelectorAll("button, select, input, .drop")].filter((each) => {
    const { borderTopWidth, borderTopColor } = getComputedStyle(each);
    const isDrawn = each.checkVisibility() && each.type !== "range" && each.type !== "file" &&
      parseFloat(borderTopWidth) > 0 && !borderTopColor.endsWith(", 0)");
    return isDrawn && contrast(borderTopColor, behind(each.parentElement)) < 3;
  }).map((each) => each.outerHTML.slice(0, 80));
})()"""
"""The controls whose border is hard to see on what is around it (WCAG 2.2, 1.4.11)."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Serve the site and return its address."""
    if not (PYODIDE.exists() and NUMPY.exists()):
        pytest.skip("tools/test.sh puts Pyodide and its numpy into .venv")
    server = make_server(site_files(read_pyodide(PYODIDE).with_numpy(NUMPY), compiled_planners()), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


class Visit:
    """One open page, with Python running in it."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        driver.get("about:blank")
        driver.get(address)
        self.wait("document.documentElement.dataset.ready", seconds=180)

    def js(self, expression: str, *arguments: Any) -> Any:
        """Return the value of an expression; ``a`` are the arguments."""
        return self.driver.execute_script(f"const a = arguments; return {expression};", *arguments)

    def wait(self, expression: str, *, seconds: float = 120) -> Any:
        """Return the value of an expression as soon as it is true."""
        end = time.monotonic() + seconds
        while not (value := self.js(expression)):
            assert time.monotonic() < end, f"never true: {expression}; status: {self.status()}"
            time.sleep(0.05)
        return value

    def status(self) -> str:
        """Return the line that screen readers are told."""
        text: str = self.js("document.getElementById('status').textContent")
        return text

    def give(self, *paths: Path) -> list[dict[str, Any]]:
        """Choose files and return the new answers, oldest first: name, smallest arena or null, text."""
        before = self.js("document.querySelectorAll('.answer').length")
        self.js("document.getElementById('status').textContent = ''")
        self.driver.find_element("id", "files").send_keys("\n".join(map(str, paths)))
        self.wait("document.getElementById('status').textContent.endsWith('answered.')")
        answers = self.js(
            "[...document.querySelectorAll('.answer')].map((box) => ({name: box.querySelector('h2').textContent,"
            "smallest: box.querySelector('.number')?.dataset.smallest, text: box.textContent}))"
        )
        return list(reversed(answers[: len(answers) - before]))


@pytest.fixture(scope="module")
def visit(browser: Any, site: str) -> Visit:
    """Return the page, opened once for the module."""
    chromium.emulate(browser, width=1200, height=900, theme="light")
    return Visit(browser, site)


def twenty_models() -> list[Path]:
    """Return twenty models where they are there, and the samples."""
    samples = [sample_path(name) for name in SAMPLES]
    recorded = sorted(SHARED.glob("*.tflite"), key=lambda path: path.stat().st_size)
    return samples + recorded[:: max(1, len(recorded) // 18)][: 20 - len(samples)]


def ours(path: Path) -> str | None:
    try:
        return str(smallest_arena(load(path), "cortex-m4").size)
    except TflmSimError:
        return None


def test_twenty_models_give_the_figures_of_the_command_line(visit: Visit) -> None:
    paths = twenty_models()
    assert [answer["smallest"] for answer in visit.give(*paths)] == [ours(path) for path in paths]


def test_the_planners_run_in_c(visit: Visit) -> None:
    assert visit.js("document.getElementById('version').textContent") == f"tflm_sim {__version__}, memory planner in C."


def test_the_answer_has_a_strip_and_the_bar_of_the_start_is_gone(visit: Visit) -> None:
    visit.give(sample_path("mobilenet_v1_025"))
    parts = "[...document.querySelectorAll('.answer .strip')[0].children].map((part) => part.title)"
    assert visit.js(parts)[-1] == "tail, for good: 26,980 B"
    assert visit.js("document.getElementById('loading').hidden")


def test_of_many_models_the_table_leads_to_each_and_one_card_is_open(visit: Visit) -> None:
    remove_all(visit)
    visit.give(*(sample_path(name) for name in ("sine", "residual", "streaming", "mobilenet_v1_025")))
    boxes = "[...document.querySelectorAll('.answer')].filter((box) => !box.hidden)"
    opened = f"{boxes}.map((box) => box.querySelector('h2').textContent)"
    assert visit.js(opened) == ["mobilenet_v1_025.tflite"]
    visit.driver.find_element("css selector", "#overview tbody tr button").click()
    assert visit.js(opened) == ["sine.tflite"]
    remove_all(visit)


def remove_all(visit: Visit) -> None:
    every = "document.querySelectorAll('.answer .buttons button:last-child')"
    visit.js(f"(() => {{ for (const remove of {every}) remove.click(); return true; }})()")


def test_a_c_array_and_a_broken_file_are_answered(visit: Visit, tmp_path: Path) -> None:
    data = sample_path("sine").read_bytes()
    (tmp_path / "model.cc").write_text(f"const unsigned char g_model[] = {{{', '.join(map(str, data))}}};")
    (tmp_path / "broken.tflite").write_bytes(data[:500])
    (tmp_path / "page.tflite").write_text("<!DOCTYPE html><script>document.title = 'hacked'</script>")
    array, broken, page = visit.give(*(tmp_path / name for name in ("model.cc", "broken.tflite", "page.tflite")))
    assert (array["name"], array["smallest"]) == ("model.cc:g_model", ours(sample_path("sine")))
    assert "(at byte " in broken["text"]
    assert "it looks like a web page" in page["text"]


def test_a_linked_program_gets_the_verdict_of_its_models(visit: Visit, tmp_path: Path) -> None:
    compiler = "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb"
    if not elf_program.is_there(compiler):
        pytest.skip("arm-none-eabi-g++ not installed")
    rows = elf_program.all_structs()
    structs = elf_program.in_order(rows, [name for name in rows if "." not in name and "::" not in name])
    source = elf_program.source_of(structs) + elf_program.model_source("g_model", "sine")
    source += "namespace { alignas(16) __attribute__((used)) unsigned char tensor_arena[512]; }\n"
    source += "namespace tflite { void Register_FULLY_CONNECTED() {} }\nint main() { return 0; }\n"
    elf = elf_program.build(tmp_path, compiler, {"main.cc": source}, "-g")
    visit.give(elf)
    first = "document.querySelector('.answer').querySelector"
    assert " in tensor_arena (512 B): too small by " in visit.js(f"{first}('.verdict.no').textContent")
    visit.js(f"({first}('details').open = true)")
    choose(visit, target="esp32")
    assert visit.js(f"{first}('details').open")
    assert "arena       tensor_arena: 512 B at 0x" in visit.js(f"{first}('details pre').textContent")
    choose(visit)


def test_hostile_names_are_text(visit: Visit, tmp_path: Path, hostile: Model) -> None:
    path = tmp_path / "<img src=x onerror=document.title='hacked'>.tflite"
    path.write_bytes(encode(hostile))
    (answer,) = visit.give(path)
    assert answer["name"] == path.name
    visit.driver.find_element("css selector", ".answer .buttons button").click()
    visit.wait("document.querySelector('.answer:not([hidden]) iframe')")
    assert (visit.js("window.hacked"), visit.driver.title) == (None, "How large must the tensor arena be?")


def test_a_model_of_20_megabytes_is_answered(visit: Visit, tmp_path: Path) -> None:
    builder = ModelBuilder()
    source = builder.tensor((1, 5_000), TensorType.INT8, scale=0.5, zero_point=0)
    weights = builder.tensor((4_000, 5_000), TensorType.INT8, data=bytes(20_000_000), scale=0.1, zero_point=0)
    result = builder.tensor((1, 4_000), TensorType.INT8, scale=0.5, zero_point=0)
    builder.operator("FULLY_CONNECTED", [source, weights, -1], [result])
    path = tmp_path / "large.tflite"
    path.write_bytes(builder.build(inputs=[source], outputs=[result]))
    (answer,) = visit.give(path)
    assert answer["smallest"] == ours(path)


def test_a_board_sets_the_target_and_the_link_holds_settings_alone(visit: Visit) -> None:
    visit.give(sample_path("sine"))
    visit.js("(() => { const b = document.getElementById('board'); b.value = 'esp32-s3';"
             "b.dispatchEvent(new Event('change', {bubbles: true})); })()")  # fmt: skip
    visit.wait("document.getElementById('status').textContent === 'Sized for esp32-s3.'")
    size = smallest_arena(load("sample:sine"), "esp32-s3").size
    assert visit.js("document.querySelector('.number').dataset.smallest") == str(size)
    assert visit.js("location.hash") == "#board=esp32-s3&target=esp32-s3"


def test_every_board_has_a_row(visit: Visit) -> None:
    visit.give(sample_path("residual"))
    visit.driver.find_elements("css selector", ".answer .buttons button")[1].click()
    rows = visit.wait("[...document.querySelectorAll('.answer tbody tr')].map((row) => row.children[1].textContent)")
    assert f"{smallest_arena(load('sample:residual'), 'esp32').multiple_of_16:,} B" in rows


def test_shrink_gives_the_file_of_the_command_line_to_save(visit: Visit, tmp_path: Path) -> None:
    visit.give(sample_path("mobilenet_v1_025"))
    visit.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    visit.driver.find_elements("css selector", ".answer .buttons button")[2].click()
    visit.wait("document.querySelector('.answer a[download=\"mobilenet_v1_025.small.tflite\"]')").click()
    path = tmp_path / "mobilenet_v1_025.small.tflite"
    for _ in range(200):
        if path.exists():
            break
        time.sleep(0.05)
    target = visit.js("document.getElementById('target').value") or "cortex-m4"
    assert path.read_bytes() == shrink(load("sample:mobilenet_v1_025"), target).data
    shown = visit.js("document.querySelectorAll('.answer')[1].querySelector('.number').dataset.smallest")
    assert shown == str(smallest_arena(load(path), target).size)


def test_nothing_is_requested_once_it_has_started(visit: Visit) -> None:
    before = visit.js("performance.getEntriesByType('resource').length")
    visit.give(sample_path("streaming"))
    assert visit.js("performance.getEntriesByType('resource').length") == before
    blocked = "fetch('https://example.org/').then(() => 'sent', () => 'refused')"
    assert visit.driver.execute_async_script(f"{blocked}.then(arguments[0])") == "refused"
    # What the policy refused is the one thing that the browser has to say.
    messages = [entry["message"] for entry in visit.driver.get_log("browser")]
    assert all("example.org" in message for message in messages), messages


def test_the_keyboard_and_a_screen_reader_find_everything(visit: Visit) -> None:
    visit.give(sample_path("sine"))
    named = visit.js(
        "[...document.querySelectorAll('input, select, button')].every((e) => e.labels?.length || e.textContent.trim()"
        " || e.getAttribute('aria-label'))"
    )
    assert named
    assert visit.js("document.getElementById('status').getAttribute('role')") == "status"
    stops = "[...document.querySelectorAll('#drop, #drop *')].filter((element) => element.tabIndex === 0).length"
    assert visit.js(stops) == 1
    roles = {"button", "combobox", "textbox", "link", "Iframe", "table"}
    nodes = [
        node for node in visit.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"] if "role" in node
    ]
    told = [(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes if not node["ignored"]]
    assert ("button", "Compare all boards") in told
    assert [role for role, name in told if role in roles and not name] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing(visit: Visit, violations: Any, theme: str, width: int) -> None:
    remove_all(visit)
    visit.give(*(sample_path(name) for name in ("sine", "residual", "streaming", "mobilenet_v1_025")))
    choose(visit, board="nicla-sense-me", target="cortex-m4")
    chromium.emulate(visit.driver, width=width, height=900, theme=theme)
    try:
        assert violations(visit.driver) == []
    finally:
        chromium.emulate(visit.driver, width=1200, height=900, theme="light")
        choose(visit)


def test_the_keyboard_alone_compares_all_boards(visit: Visit) -> None:
    from selenium.webdriver import ActionChains, Keys

    visit.give(sample_path("sine"))
    visit.js("document.querySelector('.answer').focus()")
    keys = ActionChains(visit.driver)
    for _ in range(10):
        keys.send_keys(Keys.TAB).perform()
        keys.reset_actions()
        if visit.js("document.activeElement.textContent") == "Compare all boards":
            break
    keys.send_keys(Keys.ENTER).perform()
    head = visit.wait("document.querySelector('.answer:not([hidden]) thead')?.innerText")
    assert head.split("\t")[:3] == ["board", "arena", "fits"]


def test_a_phone_shows_it_without_scrolling_sideways(visit: Visit) -> None:
    chromium.emulate(visit.driver, width=390, height=800, theme="dark")
    visit.give(sample_path("keyword_spotter"))
    assert visit.js("document.documentElement.scrollWidth") <= 390
    chromium.emulate(visit.driver, width=1200, height=900, theme="light")


def test_after_the_first_visit_it_works_without_a_network(browser: Any, site: str) -> None:
    first = Visit(browser, site)
    first.driver.execute_async_script("navigator.serviceWorker.ready.then(arguments[0])")
    browser.execute_cdp_cmd("Network.enable", {})
    conditions = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)
    try:
        first.js("(localStorage.clear(), true)")
        again = Visit(browser, site)
        (answer,) = again.give(sample_path("sine"))
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions | {"offline": False})
    assert answer["smallest"] == ours(sample_path("sine"))
    browser.get_log("browser")


def choose(visit: Visit, *, said: str = "Sized for", **settings: str) -> None:
    """Set what is given and leave the rest unnamed, as a person would, and wait until that is said."""
    for name in ("board", "library", "target", "kernels"):
        visit.js(
            "(() => { const e = document.getElementById(a[0]); e.value = a[1]; return true; })()",
            name,
            settings.get(name, ""),
        )
    visit.js("(document.getElementById('status').textContent = '', true)")
    visit.js("(document.getElementById('kernels').dispatchEvent(new Event('change', {bubbles: true})), true)")
    visit.wait(f"document.getElementById('status').textContent.startsWith({json.dumps(said)})")


def test_a_board_gives_a_verdict_and_what_was_not_named_is_said(visit: Visit) -> None:
    visit.give(sample_path("mobilenet_v1_025"))
    first = "document.querySelector('.answer').querySelector"
    choose(visit)
    assert visit.js(f"{first}('.assumed').textContent") == " (not named, so assumed: target, library, kernels)"
    assert visit.js(f"{first}('.verdict')") is None
    choose(visit, board="nicla-sense-me", target="cortex-m4")
    # 82,288 - 65,536 = 16,752
    said = "does not fit: 16,752 B too many for RAM of nicla-sense-me (65,536 B)"
    assert visit.js(f"{first}('.verdict.no').textContent") == said
    assert visit.js(f"{first}('.assumed').textContent") == " (not named, so assumed: library, kernels)"
    # What 'tflm-sim size --boards all' says of it: 35 of 36, nicla-sense-me has 64 KiB.
    where = (
        "With the newest TFLM it fits 35 of 36 boards; the smallest: microbit-v2, nucleo-f446re, stm32f4-discovery, "
    )
    visit.wait(f"{first}('.elsewhere')")
    assert visit.js(f"{first}('.elsewhere').textContent") == where + "nano33ble, nrf52840dk."
    choose(visit, board="nano33ble", target="cortex-m4")
    assert visit.js(f"{first}('.elsewhere')") is None
    left = "leaves 179,856 B of RAM of nano33ble (262,144 B) to the rest of the firmware"  # 262,144 - 82,288
    assert visit.js(f"{first}('.verdict').textContent") == left
    choose(visit, library="chirale")
    size = smallest_arena(load("sample:mobilenet_v1_025"), "nano33ble-chirale").size
    assert visit.js(f"{first}('.number').dataset.smallest") == str(size)
    assert visit.js(f"{first}('.assumed')") is None
    choose(visit)


def test_a_model_that_fails_has_no_head_and_one_that_does_not_run_says_so(visit: Visit, tmp_path: Path) -> None:
    builder = ModelBuilder()
    a, b, c = (builder.tensor((1, 4), TensorType.INT32) for _ in range(3))
    builder.operator("FLOOR_MOD", [a, b], [c])
    (tmp_path / "mod.tflite").write_bytes(builder.build(inputs=[a, b], outputs=[c]))
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 4), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.operator("LSTM", [a], [b])
    (tmp_path / "none.tflite").write_bytes(builder.build(inputs=[a], outputs=[b]))
    choose(visit)
    runs, none = visit.give(tmp_path / "mod.tflite", tmp_path / "none.tflite")
    assert "allocates, but Invoke() fails: #0 FLOOR_MOD: Type 'INT32' is not supported by FLOOR_MOD." in runs["text"]
    assert "AllocateTensors() fails in an arena of any size" in none["text"]
    texts = "[...row.cells].slice(0, 4).map((cell) => cell.textContent)"
    rows = visit.js(f"[...document.querySelectorAll('#overview tbody tr')].map((row) => {texts})")
    assert ["none.tflite", "none", "none", "none"] in rows
    assert visit.js("[...document.querySelectorAll('#overview th .quiet')].every((each) => each.offsetHeight < 32)")


def test_several_models_have_a_table_that_is_sorted_and_a_model_can_be_removed(visit: Visit) -> None:
    remove_all(visit)
    visit.give(sample_path("sine"))
    assert visit.js("document.getElementById('overview').hidden")
    visit.give(sample_path("mobilenet_v1_025"), sample_path("residual"))
    names = "[...document.querySelectorAll('#overview tbody tr')].map((row) => row.cells[0].textContent)"
    assert visit.js(names) == ["sine.tflite", "mobilenet_v1_025.tflite", "residual.tflite"]
    visit.driver.find_elements("css selector", "#overview th button")[1].click()
    assert visit.js(names) == ["mobilenet_v1_025.tflite", "residual.tflite", "sine.tflite"]
    assert visit.js("document.querySelectorAll('#overview th')[1].ariaSort") == "descending"
    visit.driver.find_elements("css selector", "#overview th button")[1].click()
    assert visit.js(names)[0] == "sine.tflite"
    visit.driver.find_element("css selector", ".answer .buttons button:last-child").click()
    assert visit.js(names) == ["sine.tflite", "mobilenet_v1_025.tflite"]


def test_shrinking_is_cancelled_inside_its_card_while_others_are_sized(visit: Visit) -> None:
    visit.give(sample_path("mobilenet_v1_025"))
    shrink_button = "document.querySelectorAll('.answer')[0].querySelectorAll('.buttons button')[2]"
    box = visit.driver.find_element("css selector", ".answer")
    box.find_elements("css selector", ".buttons button")[2].click()
    visit.wait("document.querySelector('.answer .working')")
    assert visit.js(f"{shrink_button}.ariaDisabled") == "true"
    assert visit.js(f"document.activeElement === {shrink_button}")
    visit.driver.find_element("id", "sample").click()
    visit.wait("document.getElementById('status').textContent.startsWith('A MobileNet')")
    box.find_element("css selector", ".working button").click()
    visit.wait("[...document.querySelectorAll('.answer .error')].some((e) => e.textContent === 'Cancelled.')")
    assert visit.status() == "Cancelled."


def test_other_panels_leave_shrinking_its_progress_and_removing_the_model_ends_it(visit: Visit) -> None:
    visit.give(sample_path("sine"), sample_path("mobilenet_v1_025"))
    box = visit.driver.find_element("css selector", ".answer")
    _, compare, shrinks, remove = box.find_elements("css selector", ".buttons button")
    shrinks.click()
    visit.wait("document.querySelector('.answer .working')")
    compare.click()
    visit.wait("document.querySelector('.answer tbody tr')")
    assert visit.js("document.querySelectorAll('.answer .working button').length") == 1
    # Cancelled while the first Python is busy and the second one has no model yet: nothing waits for it any more.
    box.find_element("css selector", ".working button").click()
    visit.wait("document.querySelector('.answer .error')?.textContent === 'Cancelled.'")
    compare.click()
    shrinks.click()
    visit.wait("document.querySelector('.answer .working button')").click()
    visit.wait("document.querySelector('.answer .error')?.textContent === 'Cancelled.'")
    shrinks.click()
    visit.wait("document.querySelector('.answer .working')")
    remove.click()
    visit.wait("document.getElementById('status').textContent === 'Removed.'")
    assert visit.js("document.querySelector('.answer h2').textContent") == "sine.tflite"


def test_a_file_that_cannot_be_read_has_a_row_and_can_be_removed(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "broken.tflite").write_bytes(b"no model")
    visit.give(sample_path("mobilenet_v1_025"), tmp_path / "broken.tflite")
    choose(visit, board="nicla-sense-me", target="cortex-m4")
    assert visit.status() == "Sized for nicla-sense-me, cortex-m4."
    rows = visit.js("[...document.querySelectorAll('#overview tbody tr')].map((row) => row.innerText.split('\\t'))")
    many = "does not fit: 16,752 B too many for RAM of nicla-sense-me (65,536 B)"
    assert ["mobilenet_v1_025.tflite", "82,288", "55,296", "26,980", "31", "-16,752", "no", many] in rows
    (broken,) = [row for row in rows if row[0] == "broken.tflite"]
    assert broken[1:7] == ["none"] * 6
    assert broken[7] == "broken.tflite: this is not a .tflite model; it looks like a text file"
    choose(visit, library="nobody", said="unknown library 'nobody'")
    choose(visit)
    assert visit.status() == "Sized for cortex-m4."
    visit.driver.find_element("css selector", ".answer .buttons button:last-child").click()
    names = visit.js("[...document.querySelectorAll('#overview tbody tr')].map((row) => row.cells[0].textContent)")
    assert "broken.tflite" not in names


def test_a_report_follows_the_machines_theme_and_on_a_phone_scrolls_with_the_page(visit: Visit) -> None:
    visit.give(sample_path("residual"))
    visit.driver.find_element("css selector", ".answer .buttons button").click()
    frame = visit.wait("document.querySelector('.answer:not([hidden]) iframe')")
    visit.js("(a[0].scrollIntoView(), true)", frame)  # A frame that nobody sees is not told of a change.
    background = "return getComputedStyle(document.body).backgroundColor"
    try:
        for theme, color in (("dark", "rgb(18, 22, 28)"), ("light", "rgb(245, 246, 248)")):
            chromium.emulate(visit.driver, width=390, height=844, theme=theme)
            visit.driver.switch_to.frame(frame)
            visit.wait(f"(() => {{ {background}; }})() === '{color}'")
            visit.driver.switch_to.default_content()
        visit.wait("Number.parseInt(document.querySelector('.answer:not([hidden]) iframe').style.height) > 1000")
        visit.driver.switch_to.frame(frame)
        assert visit.js("document.documentElement.scrollHeight - innerHeight") <= 0
        visit.driver.switch_to.default_content()
    finally:
        visit.driver.switch_to.default_content()
        chromium.emulate(visit.driver, width=1200, height=900, theme="light")
    visit.wait("document.querySelector('.answer:not([hidden]) iframe').style.height === ''")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_borders_of_controls_have_a_contrast_of_three_to_one(visit: Visit, theme: str) -> None:
    visit.give(sample_path("residual"))
    visit.driver.find_element("css selector", ".answer .buttons button").click()
    frame = visit.wait("document.querySelector('.answer:not([hidden]) iframe')")
    visit.js("(a[0].scrollIntoView(), true)", frame)  # A frame that nobody sees is not told of a change.
    chromium.emulate(visit.driver, width=1200, height=900, theme=theme)
    try:
        assert visit.js(FAINT_BORDERS) == []
        visit.driver.switch_to.frame(frame)
        visit.wait(f"document.documentElement.dataset.theme === '{theme}'")
        assert visit.js(FAINT_BORDERS) == []
    finally:
        visit.driver.switch_to.default_content()
        chromium.emulate(visit.driver, width=1200, height=900, theme="light")


def test_a_panel_stays_open_when_the_settings_change(visit: Visit) -> None:
    visit.give(sample_path("sine"))
    visit.driver.find_elements("css selector", ".answer .buttons button")[1].click()
    visit.wait("document.querySelector('.answer tbody tr')")
    choose(visit, target="esp32")
    assert visit.js("document.querySelector('.answer').querySelectorAll('tbody tr').length") > 20
    choose(visit)


def test_the_settings_of_the_last_visit_are_there_again(browser: Any, site: str) -> None:
    first = Visit(browser, site)
    first.give(sample_path("sine"))
    choose(first, board="esp32-s3", target="esp32-s3", library="esp-tflite-micro@1.3.5")
    again = Visit(browser, site)
    assert again.js("['board', 'library', 'target'].map((id) => document.getElementById(id).value)") == [
        "esp32-s3",
        "esp-tflite-micro@1.3.5",
        "esp32-s3",
    ]
    again.js("(localStorage.clear(), true)")


def test_the_package_in_the_page_is_this_one_and_always_the_same_bytes() -> None:
    data = package_archive()
    assert data == package_archive()
    assert len(data) < 1_900_000  # of which 362,650 are the sample models
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert [name for name in names if name.split("/")[1] in ("cli", "emulation", "pytest_plugin", "keras.py")] == []
