"""The page in a real browser: five models are opened, clicked, searched and filtered, and their numbers are the JSON's.

No test may leave an error in the browser's console; the policy of the page makes every request and foreign script one.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.lite.answer import LiteSettings, allocated, subgraph_document
from tflm_sim.extensions.lite.planned_picture import lite_pictures
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.picture import Picture, is_tail
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))

pytestmark = pytest.mark.nightly
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
LARGEST = 6000
FIGURES = ("smallest_arena_bytes", "smallest_arena_multiple_of_16", "head_bytes", "tail_bytes", "arena_used_bytes")


def thousands_of_operators() -> Model:
    """Return a model of ``LARGEST`` operators whose head has many shapes: ADDs in rows of changing width."""
    builder = ModelBuilder()

    def tensor(size: int) -> int:
        name = f"layer_{size}/row"
        return builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0, name=name)

    first = kept = last = tensor(64)
    for number in range(LARGEST):
        if number % 50 == 49:
            result = tensor(64)
            builder.operator("ADD", [last, kept], [result])
            kept = result
        else:
            result = tensor(64)
            builder.operator("RELU" if number % 3 else "ADD", [last] if number % 3 else [last, last], [result])
        last = result
    return parse(builder.build(inputs=[first], outputs=[last]))


@cache
def picture_of_thousands() -> Picture:
    """Return the picture of the largest model, made once."""
    return take_picture(thousands_of_operators(), M4)


def models() -> dict[str, Any]:
    """Return five models: real ones where they are, and one of thousands of operators."""
    real = (
        "NXP-eiq-model-zoo__dperson_shufflenetv2",
        "spotify-basic-pitch__icassp_2022_nmp",
        "esphome-micro-wake-word-models__hey_jarvis",
        "Arm-Examples-mlek-cmsis-pack-examples__yolo-fastest_192_face_v4",
    )
    samples = ("mobilenet_v1_025", "residual", "streaming", "keyword_spotter")
    paths = {}
    for name, sample in zip(real, samples, strict=True):
        path = SHARED / f"{name}.tflite"
        paths[name] = path if path.exists() else sample_path(sample)
    return {**paths, "thousands": None}


@pytest.fixture(scope="module", params=models())
def picture(request: pytest.FixtureRequest) -> Picture:
    path = models()[request.param]
    return picture_of_thousands() if path is None else take_picture(load(path), M4)


def largest_resident(picture: Picture) -> int:
    """Return the resident that is the easiest to hit: most bytes times scopes."""
    rows = picture.residents
    return max(range(len(rows)), key=lambda i: rows[i].size * (rows[i].last - rows[i].first + 1))


def test_five_models_are_opened_clicked_searched_and_filtered(page: Any, picture: Picture) -> None:
    page.open([picture])
    for name in FIGURES:
        assert page.number(f'[data-figure="{name}"]') == getattr(picture.size.answer, name)
    assert page.number("#peak-live") == picture.size.answer.peak.live_bytes

    index = largest_resident(picture)
    row = picture.residents[index]
    page.js("tflmSim.choose(tflmSim.views[0], {kind: 'resident', index: a[0]}, {show: true})", index)
    page.js(
        "(tflmSim.zoom(0.02, {u: tflmSim.views[0].extent({kind: 'resident', index: a[0]}).start, b: a[1]}), true)",
        index,
        row.offset,
    )
    page.js(
        "((app, view) => { app.show(view, view.extent({kind: 'resident', index: a[0]})); app.paint(); })"
        "(tflmSim, tflmSim.views[0])",
        index,
    )
    page.click_on("resident", index)
    page.wait("tflmSim.chosen && tflmSim.chosen.thing.kind === 'resident'")
    assert page.js("tflmSim.chosen.thing.index") == index
    assert page.number("#chosen-size") == row.size
    assert page.number("#chosen-offset") == row.offset
    assert page.number("#chosen-sharing") == row.sharing
    page.click("#zoom-all")

    wanted = picture.op_names[0][len(picture.op_names[0]) // 2]
    page.find("#search").send_keys(wanted.lower())
    found = page.js("tflmSim.found.length")
    assert found >= sum(name == wanted for name in picture.op_names[0]) > 0
    assert page.text("#matches") == f"{found:,} match{'es' if found > 1 else ''}"
    page.click("#next")
    assert page.text("#matches").startswith("1 of ")
    page.find("#search").send_keys("\ue00c")  # Escape
    assert page.text("#matches") == ""

    activations = sum(row.category == "activation" for row in picture.residents)
    page.click("#tab-buffers")
    assert page.number("#buffer-count") == len(picture.residents)
    page.click('[data-category="activation"]')
    assert page.number("#buffer-count") == len(picture.residents) - activations
    page.click('[data-category="activation"]')
    assert page.number("#buffer-count") == len(picture.residents)


def test_the_tail_is_listed_with_the_numbers_of_the_json(page: Any, picture: Picture) -> None:
    page.open([picture])
    page.click("#tab-tail")
    cells = page.js(
        "[...document.querySelectorAll('#tail tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    shown = {row[0]: int(row[1].replace(",", "")) for row in cells}
    assert shown == {row.what: row.used for row in picture.size.answer.tail.groups}


def test_a_table_of_boards_is_a_tab_of_its_own(page: Any, residual: Picture) -> None:
    row = BoardFit("<b>one</b>", "esp32", "ok", 4096, 320 << 10, 503_316, 4 << 20, may_fit=True, fits="yes")
    page.open([residual], [row])
    page.click("#tab-boards")
    cells = "Array.from(document.querySelectorAll('#board-table td'), (cell) => cell.textContent)"
    assert page.js(cells) == ["<b>one</b>", "4,096 B", "1.2 %", "12.0 %", "yes"]
    assert page.js("document.querySelector('#board-table tbody tr').title") == "esp32, RAM: 320 KiB, flash: 4,096 KiB"
    page.open([residual])
    assert page.js("document.getElementById('tab-boards')") is None


def test_what_is_drawn_of_thousands_of_operators_is_bounded_by_the_pixels(page: Any) -> None:
    picture = picture_of_thousands()
    assert sum(map(len, picture.op_names)) == LARGEST
    page.open([picture])
    counted = """((app) => {
      const canvas = app.panes[0].canvas;
      const drawn = (action) => { action(); return canvas.drawn; };
      const all = drawn(() => app.paint());
      app.zoom(0.05, {u: 0.6});
      const near = drawn(() => app.paint());
      canvas.drawn = 0;
      const step = drawn(() => { app.setCursor(app.cursor + 1); canvas.drawOver(); app.views[0].at(1000, 0.9); });
      return {all, near, step, rows: canvas.height}; })(tflmSim)"""
    counts = page.js(counted)
    # A row of pixels shows a few blocks, however many operators fall into it (head, tail and temps of each are many
    # more); near, there is less to see; the cursor redraws none.
    assert counts["all"] < 20 * counts["rows"] < 2 * LARGEST, counts
    assert counts["near"] < counts["rows"], counts
    assert counts["step"] == 0, counts


@pytest.fixture(scope="module")
def residual() -> Picture:
    return take_picture(load(sample_path("residual")), M4)


def test_the_keyboard_steps_jumps_and_zooms(page: Any, residual: Picture) -> None:
    page.open([residual])
    steps = len(residual.steps)
    assert page.js("tflmSim.cursor") == steps + residual.peak_scope
    page.press("\ue011")  # Home
    assert page.js("tflmSim.cursor") == 0
    page.press("\ue014\ue014")  # right
    assert page.js("tflmSim.cursor") == 2
    assert page.text("#event").startswith("3. ")
    page.press("\ue010")  # End
    assert page.text("#event").startswith("Invoke(): #15 SOFTMAX")
    page.press("b")
    assert page.js("tflmSim.cursor") == residual.limits[0].step
    page.press("p")
    assert page.js("tflmSim.cursor") == steps + residual.peak_scope
    page.press("++")
    assert page.js("tflmSim.isZoomed")
    page.press("0")
    assert not page.js("tflmSim.isZoomed")
    page.press("/")
    assert page.js("document.activeElement.id") == "search"


def test_every_step_says_what_happens(page: Any, residual: Picture) -> None:
    page.open([residual])
    texts = page.js(
        "((app) => [...Array(app.views[0].count).keys()].map("
        "(i) => { app.cursor = i; return app.eventText(app.views[0]).join(' / '); }))(tflmSim)"
    )
    assert len(texts) == len(residual.steps) + len(residual.scopes)
    for text, step in zip(texts, residual.steps, strict=False):
        assert "undefined" not in text
        if step.kind in ("persist", "temp"):
            block = residual.blocks[step.value]
            assert f"{block.size:,} B at {block.offset:,}" in text
    last = texts[len(residual.steps) - 1]
    assert f"head {residual.head_bytes:,}, temp to {residual.head_bytes:,}, " in last
    assert last.endswith(f"tail {residual.arena_bytes - residual.tail_start:,}")


def test_clicking_the_tail_tells_who_holds_it(page: Any, residual: Picture) -> None:
    page.open([residual])
    index = max((i for i, row in enumerate(residual.blocks) if is_tail(row)), key=lambda i: residual.blocks[i].size)
    page.click_on("block", index)
    page.wait("tflmSim.chosen")
    assert page.number("#chosen-size") == residual.blocks[index].size
    assert page.text("#chosen-name") == residual.blocks[index].label
    assert "for good" in page.text("#panel")


def test_two_targets_stand_side_by_side_on_one_scale(page: Any, residual: Picture) -> None:
    other = take_picture(load(sample_path("residual")), Configuration(preset("esp32-s3")))
    page.open([residual, other])
    assert len(page.driver.find_elements("css selector", ".pane")) == 2
    assert page.text('[data-figure="head_bytes"]') == "49,728 → 96,832 B"
    assert page.text('[data-change="head_bytes"]') == "(+47,104)"
    assert page.js("tflmSim.window.b1") == max(residual.arena_bytes, other.arena_bytes)
    # The cursor of the other picture stands at the same operator.
    first = next(i for i, row in enumerate(residual.moments) if (row.name, row.operator) == ("op_prepare", 5))
    page.js("(tflmSim.setCursor(a[0]), true)", residual.moments[first].step)
    theirs = page.js("tflmSim.views[1].momentOf[tflmSim.cursorOf(tflmSim.views[1])]")
    assert other.moments[theirs][:3] == ("op_prepare", 0, 5)
    index = largest_resident(other)
    page.click_on("resident", index, pane=1)
    page.wait("tflmSim.chosen && tflmSim.chosen.view === tflmSim.views[1]")
    assert page.number("#chosen-size") == other.residents[page.js("tflmSim.chosen.thing.index")].size


def test_the_peak_of_every_picture_is_explained_that_of_the_active_one_first(page: Any, residual: Picture) -> None:
    other = take_picture(load(sample_path("residual")), Configuration(preset("esp32-s3")))
    page.open([residual, other])
    page.click("#tab-shrink")
    peaks = "[...document.querySelectorAll('#peak-live')].map((each) => Number(each.dataset.value))"
    live = [picture.size.answer.peak.live_bytes for picture in (residual, other)]
    assert page.js(peaks) == live
    titles = page.js("[...document.querySelectorAll('#panel h2')].map((each) => each.textContent)")
    assert titles == ["cortex-m4, cmsis_nn@4ab83cc (dsp) kernels", "esp32-s3, esp_nn@1.3.1 (esp32s3) kernels"]


@pytest.mark.parametrize("name", ["#chips button:nth-child(3)", "#tab-tail", "#tab-buffers", "#theme", "#zoom-in"])
def test_a_button_that_worked_keeps_the_focus(page: Any, residual: Picture, name: str) -> None:
    page.open([residual])
    page.js("(document.querySelector(a[0]).focus(), true)", name)
    page.driver.switch_to.active_element.send_keys("\ue007")  # Enter
    assert page.js("document.activeElement === document.querySelector(a[0])", name)


def test_sorting_buffers_keeps_the_focus_and_what_leads_elsewhere_gives_it_to_the_panel(
    page: Any, residual: Picture
) -> None:
    page.open([residual])
    page.click("#tab-buffers")
    for name, text in (("#panel .hint button:nth-child(2)", "offset"), ("#panel td button", None)):
        page.js("(document.querySelector(a[0]).focus(), true)", name)
        page.driver.switch_to.active_element.send_keys("\ue007")  # Enter
        if text:
            assert page.js("document.activeElement.textContent") == text
    assert page.js("document.getElementById('panel').contains(document.activeElement)")


def test_escape_closes_the_keys(page: Any, residual: Picture) -> None:
    page.open([residual])
    page.press("?")
    assert page.js("document.getElementById('keys').open")
    page.driver.switch_to.active_element.send_keys("\ue00c")
    assert not page.js("document.getElementById('keys').open")


def test_on_paper_are_the_picture_the_legend_and_every_tab_and_no_buttons(page: Any, residual: Picture) -> None:
    page.open([residual], theme="dark")
    page.js("(window.dispatchEvent(new Event('beforeprint')), true)")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        shown = page.js(
            "Object.fromEntries(['#zoom-in', '#search', '#play', '#tabs', '#paper', '#chips', '.canvas canvas'].map("
            "(each) => [each, document.querySelector(each).checkVisibility()]))"
        )
        assert {name for name, is_shown in shown.items() if is_shown} == {"#paper", "#chips", ".canvas canvas"}
        titles = "[...document.querySelectorAll('#paper section > h2')].map((each) => each.textContent)"
        assert page.js(titles) == ["Peak", "Tail", "Buffers"]
        rows = page.js("document.querySelectorAll('#paper section:last-child tbody tr').length")
        assert rows == len(residual.residents)
        assert page.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_is_the_preferred_one_until_it_is_changed(page: Any, residual: Picture, theme: str) -> None:
    page.open([residual], theme=theme)
    page.js("(localStorage.clear(), true)")
    page.driver.refresh()
    page.wait("document.documentElement.dataset.firstPaint")
    assert page.js("document.documentElement.dataset.theme") == theme
    page.click("#theme")
    assert page.js("document.documentElement.dataset.theme") != theme
    page.js("(localStorage.clear(), true)")


def test_a_phone_shows_the_picture_without_scrolling_sideways(page: Any, residual: Picture) -> None:
    page.open([residual, residual], width=390, height=844)
    assert page.js("document.documentElement.scrollWidth") == 390
    page.open([residual], width=390, height=844)
    assert page.js("document.documentElement.scrollWidth") == 390
    width, height = page.js("[tflmSim.panes[0].canvas.width, tflmSim.panes[0].canvas.height]")
    assert width > 330
    assert height > 340
    page.js("(tflmSim.panes[0].host.scrollIntoView(), true)")
    index = largest_resident(residual)
    page.click_on("resident", index)
    page.wait("tflmSim.chosen")
    assert page.number("#chosen-size") == residual.residents[index].size


def test_hostile_names_are_shown_and_run_nothing(page: Any, hostile: Model) -> None:
    picture = take_picture(hostile, M4)
    page.open([picture])
    for index, row in enumerate(picture.residents):
        page.js("(tflmSim.choose(tflmSim.views[0], {kind: 'resident', index: a[0]}), true)", index)
        shown = page.js("document.getElementById('chosen-name').textContent")
        assert len(shown) <= 2000
        assert shown.endswith(row.name[-7:]) or "\\" in shown
        assert not [c for c in shown if ord(c) < 0x20 or c in "\x7f\u202e\u202c\u2066\u2069\u2028\u2029\u200d"]
    page.find("#search").send_keys("<script>")
    page.click("#next")
    page.click("#tab-buffers")
    page.click("#tab-tail")
    assert page.js("window.hacked === undefined")
    assert page.js("document.querySelectorAll('script').length") == 2
    assert page.js("document.querySelectorAll('img').length") == 0
    assert "\u202e" not in page.js("document.body.innerText + document.title")


def test_a_failing_arena_says_so_on_top(page: Any) -> None:
    picture = take_picture(load(sample_path("residual")), M4, arena_size=20 * 1024)
    page.open([picture])
    assert page.text("#banner").splitlines() == [f"AllocateTensors() fails: {picture.failure}", *picture.advice]
    assert not page.find("#to-tight").is_displayed()
    page.js("tflmSim.goTo(tflmSim.views[0], a[0])", picture.shortage.step)
    assert "AllocateTensors() fails" in page.text("#event")


def test_a_phones_page_has_its_own_figures_and_says_that_xnnpack_is_left_out(page: Any) -> None:
    settings = LiteSettings()
    answer = allocated(load(sample_path("streaming")), settings)
    page.open(lite_pictures("streaming", answer, settings)[:1])
    titles = page.js("[...document.querySelectorAll('dt')].map(each => each.textContent)")
    assert titles[:3] == ["both arenas", "arena", "persistent arena"]
    values = page.js("[...document.querySelectorAll('[data-figure]')].map(each => Number(each.dataset.value))")
    span = subgraph_document(answer.subgraphs[0])
    assert values == [span.arena_rw_span + span.persistent_span, span.arena_rw_span, span.persistent_span]
    shown = page.js("document.body.innerText")
    assert not page.find("#to-tight").is_displayed()
    assert "without the XNNPACK delegate" in shown
    assert "The XNNPACK delegate, which apps get by default, is left out" in shown


def press_at_names(page: Any, first: int, last: int) -> None:
    """Press the mouse at the name of one operator, and let it go at that of another."""
    points = page.js(
        "((app) => { const { canvas, view } = app.panes[0], box = canvas.over.getBoundingClientRect();"
        "return [...a].map((scope) => [box.left + 30, box.top + canvas.y(view.scopeU(scope + 0.5))]); })(tflmSim)",
        first,
        last,
    )
    for event, (x, y) in zip(
        ("mousePressed", "mouseMoved", "mouseReleased"), (points[0], *points[1:] * 2), strict=True
    ):
        facts = {"type": event, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", facts)


def test_an_operator_is_opened_from_its_name_and_a_drag_sums_up_several(page: Any, residual: Picture) -> None:
    page.open([residual])
    press_at_names(page, 5, 5)
    number = residual.scopes[5][1]
    assert page.text("#range-name") == f"#{number} {residual.op_names[0][number]}"
    assert page.number("#range-operators") == 1
    assert page.number("#range-live") == residual.live_bytes[5]
    press_at_names(page, 3, 8)
    assert page.number("#range-operators") == 6
    assert page.number("#range-live") == max(residual.live_bytes[3:9])
    operators = {residual.scopes[scope][1] for scope in range(3, 9)}
    rows = residual.size.answer.tail.ops
    assert page.number("#range-kept") == sum(row.used for row in rows if row.operator in operators)
    alive = sum(row.first <= 8 and row.last >= 3 for row in residual.residents)
    assert page.js("document.querySelectorAll('#panel tbody tr').length") == alive
    page.press("\ue00c")  # Escape
    assert page.js("tflmSim.range") is None


def test_the_whole_setup_takes_the_whole_tail(page: Any, residual: Picture) -> None:
    page.open([residual])
    page.js("(tflmSim.chooseRange(tflmSim.views[0], 0, tflmSim.views[0].stepCount - 1), true)")
    assert page.number("#range-tail") == residual.size.answer.tail_bytes


def test_names_of_operators_have_room_and_are_marked_where_they_are_cut(page: Any, residual: Picture) -> None:
    longest = "Math.max(...app.views[0].scopes.map((_, scope) => context.measureText(app.views[0].opAt(scope)).width))"
    room = (
        "((app) => { const { canvas } = app.panes[0], context = canvas.base.getContext('2d'); context.font = a[0];"
        f"return canvas.gutter - 26 - {longest}; }})(tflmSim)"
    )
    font = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif'
    for width in (1280, 390):
        page.open([residual], width=width)
        assert page.js(room, font) >= 0


def test_many_pictures_have_rows_of_their_own_and_say_what_each_needs(page: Any) -> None:
    model = load(sample_path("residual"))
    pictures = [take_picture(model, name) for name in ("cortex-m4", "esp32", "esp32-s3", "cortex-m55")]
    page.open(pictures)
    needs = [picture.size.answer.smallest_arena_multiple_of_16 for picture in pictures]
    shown = page.js("[...document.querySelectorAll('#figures [data-value]')].map((need) => need.dataset.value)")
    assert [int(need) for need in shown] == needs
    boxes = page.js(
        "[...document.querySelectorAll('.pane')].map((pane) => { const box = pane.getBoundingClientRect();"
        "return [Math.round(box.top), pane.scrollHeight - pane.clientHeight, Math.round(box.width)]; })"
    )
    assert len({top for top, _, _ in boxes}) == 2  # two columns
    assert all(hidden <= 1 and width >= 400 for _, hidden, width in boxes)
    page.open(pictures, width=390)
    assert page.js("document.documentElement.scrollWidth") <= 390


def test_a_dark_page_is_printed_in_light(page: Any, residual: Picture) -> None:
    page.open([residual], theme="dark")
    page.js("(window.addEventListener('beforeprint', () => { window.printed = tflmSim.theme; }), true)")
    page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert page.js("window.printed") == "light"
    assert page.wait("tflmSim.theme === 'dark'")


@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_are_printed_at_one_size_from_any_window(page: Any, residual: Picture, width: int) -> None:
    page.open([residual, residual], width=width)
    page.js(
        "(window.addEventListener('beforeprint', () => { window.printed = tflmSim.panes.map("
        "({canvas}) => [canvas.base.width, canvas.base.height]); }), true)"
    )
    sizes = "tflmSim.panes.map(({canvas}) => [canvas.base.width, canvas.base.height])"
    before = page.js(sizes)
    page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert page.js("window.printed") == [[900, 470], [900, 470]]
    page.wait(f"JSON.stringify(a[0]) === JSON.stringify({sizes})", before)
