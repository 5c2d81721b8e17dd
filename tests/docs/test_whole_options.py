"""Options of commands on the pages of the site stay in one piece."""

import whole_options


def test_options_are_marked_and_nothing_else():
    page = "<p><code>zwang run -o F --set a-b=1</code>, <code>x - y</code> <em>--set</em></p>"
    made = whole_options.on_page_content(page, page=None)
    assert made.count("whole") == 2
    assert '<span class="whole">-o</span> F <span class="whole">--set</span> a-b=1' in made
    assert "<code>x - y</code> <em>--set</em>" in made


def test_code_of_blocks_is_left_alone():
    block = '<pre><span></span><code><span class="k">x</span> --set</code></pre>'
    assert whole_options.on_page_content(block) == block
