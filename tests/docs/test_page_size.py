"""No page of the site is large, and what makes pages smaller changes nothing that is seen."""

import logging
from types import SimpleNamespace

import page_size

PAGE = """<html>
  <p>A word
     and   another.</p>


  <pre>  kept
      as it is

  </pre>
  <script>
    let a = `x
      y`;
  </script>
  <ul>
      <li>one</li>
  </ul>
</html>
"""


def test_blanks_that_are_seen_are_kept():
    text = page_size.without_blanks(PAGE)
    assert "  kept\n      as it is\n\n  </pre>" in text
    assert "let a = `x\n      y`;" in text
    assert "<p>A word\nand   another.</p>\n<pre>" in text
    assert "<ul>\n<li>one</li>\n</ul>" in text
    assert text.split() == PAGE.split()


def test_a_page_over_the_limit_is_a_warning_that_stops_a_strict_build(caplog):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="reference/large.md"))
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        page_size.on_post_page("x" * page_size.MOST, page=page, config=None)
        assert not caplog.records
        page_size.on_post_page("ä" * page_size.MOST, page=page, config=None)
    (record,) = caplog.records
    assert record.getMessage() == "reference/large.md has 600 kB, and may have 300"
    assert record.name.startswith("mkdocs.")  # whose warnings --strict counts
