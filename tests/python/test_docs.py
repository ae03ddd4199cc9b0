"""Runs every Python block in the package's documentation, and a notebook."""
import os
import re
import shutil

import nbformat
import nbclient
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = ("docs/python.md",)


@pytest.mark.parametrize("page", PAGES)
def test_blocks(page, tmp_path, fixture, monkeypatch, capsys):
    """The blocks of a page share one namespace, as if typed by a reader; the text block after a Python block must equal its
    output."""
    text = open(os.path.join(HERE, "..", "..", page), encoding="utf-8").read()
    shutil.copytree(fixture("json/torch/ddp2_handler"), tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    scope, n = {}, 0
    for code, shown in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.S):
        exec(compile(code, page, "exec"), scope)
        printed = capsys.readouterr().out
        if shown:
            assert printed == shown
        n += 1
    assert n >= 5


def test_notebook(tmp_path, fixture):
    book = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("import tracekit"),
        nbformat.v4.new_code_cell(f"t = tracekit.load({fixture('json/jax/multihost')!r})\nt"),
        nbformat.v4.new_code_cell("t.view()"),
        nbformat.v4.new_code_cell("t.report()"),
        nbformat.v4.new_code_cell("t.events().to_pandas().groupby('name', observed=True).dur.sum().nlargest(3)"),
    ])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = ["".join(str(o.get("data", {})) for o in cell.outputs) for cell in book.cells]
    assert "text/html" in shown[1] and "<svg" in shown[1] and "postMessage" in shown[2] and "<iframe sandbox" in shown[3] and "dur" in shown[4]
