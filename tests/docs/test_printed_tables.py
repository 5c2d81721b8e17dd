"""Printed tables are told from sentences, which may wrap."""

import printed_tables

SENTENCE = "argument of body must be one of mass, inertia.\n  Did you mean 'mass'?"
TABLE = "coordinate   acceleration\n         x          -2.66\n         y           0"


def test_columns_make_a_table_and_indented_sentences_do_not():
    assert printed_tables.is_table(TABLE)
    assert not printed_tables.is_table(SENTENCE)
    assert printed_tables.is_table("engine ──front bolt── wagon\n  └──safety chain──┘")
    assert not printed_tables.is_table("[[1.  0. ]\n [0.  1. ]]".splitlines()[0])


def test_only_tables_get_the_class():
    def page(text, kind):
        return f'<div class="{kind}"><pre><span></span><code>{text}</code></pre></div>'

    for kind in ("language-text highlight", "output"):
        both = page(SENTENCE, kind) + page(TABLE, kind)
        marked = printed_tables.on_page_content(both, page=None)
        assert marked.startswith(page(SENTENCE, kind))
        assert marked.count(f'<div class="{kind} aligned"') == 1
        assert marked.count("<code>") == 2
    code = page(TABLE, "language-python highlight")
    assert printed_tables.on_page_content(code) == code
