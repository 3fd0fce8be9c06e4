"""How is it shown?

A *document* is a dataclass that is written as JSON; text, pages and pictures are made of documents and of ``Picture``,
and work nothing out themselves. To read on:

    document, size_answer    the document of ``size``; ``text`` prints it
    picture,                 every byte of one arena over time, and how events become that
    picture_builder
    page, map, svg,          what draws a picture: HTML, terminal, SVG, PNG, Perfetto, Model Explorer
    drawings, perfetto, ...
    size_difference,         the documents of other verbs; ``..._text`` has the words where they are many
    planner_comparison, ...
    tables                   what they share: tables of a terminal; the colours are in ``palette``, below all rooms
"""
