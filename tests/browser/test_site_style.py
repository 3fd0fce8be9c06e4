"""The site's own style: what its copy button takes, and that no code is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).resolve().parents[2]
LONG = "tflm-sim size model.tflite " + "--custom-ops my_filter.py " * 12
PAGE = f"""<!DOCTYPE html><style>{{style}}</style><div class="md-typeset"><pre style="width: 300px"><code>\
<span class="gp">$ </span>bash tools/install.sh
<span class="go">== done</span>
<span class="gp">$ </span>{LONG}
</code></pre></div>"""


def test_copied_commands_have_no_prompt_and_no_output_and_long_lines_are_not_cut(browser: Any, tmp_path: Path) -> None:
    assert "extra_css: [site.css]\n" in (ROOT / "mkdocs.yml").read_text("utf-8")
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(style=(ROOT / "docs/site.css").read_text("utf-8")), "utf-8")
    browser.get(path.as_uri())
    code = "const code = document.querySelector('code'), pre = code.parentElement;"
    shown = browser.execute_script(f"{code} return code.innerText")
    assert shown.startswith("$ bash")
    # As Material's button does it: the block is marked, and read as it is shown then.
    copied = browser.execute_script(f"{code} code.setAttribute('data-md-copying', ''); return code.innerText.trimEnd()")
    assert [line.strip() for line in copied.splitlines() if line.strip()] == ["bash tools/install.sh", LONG.strip()]
    browser.execute_script(f"{code} code.removeAttribute('data-md-copying')")
    assert browser.execute_script(f"{code} return pre.scrollWidth - pre.clientWidth") == 0


def test_pictures_are_dark_where_the_page_is_and_no_header_is_empty(browser: Any, tmp_path: Path) -> None:
    pictures = '<picture><source media="(prefers-color-scheme: dark)" srcset="dark.png"><img src="light.png"></picture>'
    script = (ROOT / "docs/site.js").read_text("utf-8")
    path = tmp_path / "page.html"
    table = "<table><tr><th></th><th>exact</th></tr></table>"
    path.write_text(f'<body data-md-color-scheme="slate">{pictures}{table}<script>{script}</script>', "utf-8")
    media = "return document.querySelector('source').media"
    browser.get(path.as_uri())
    assert browser.execute_script(media) == "all"
    browser.execute_script("document.body.dataset.mdColorScheme = 'default'")
    assert browser.execute_script(media) == "not all"
    # Its corner that says nothing is no header, which screen readers would announce.
    assert [cell.tag_name for cell in browser.find_elements("css selector", "tr > *")] == ["td", "th"]
