#!/usr/bin/env python3
"""A session of `tracekit mcp` with the client of the protocol's Python SDK, which checks messages and structured content.

Twenty questions about fixtures are asked, and the command must give the same answers. Then: answers within their limit,
paths and statements that are refused, a call that is cancelled."""
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
TRACE, OTHER, RUN = 'rank0.json.gz', 'rank1.json.gz', 'run'
ENDLESS = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r'

# Tool, arguments, and the words of the command that answers the same.
QUESTIONS = (
    ('list', {'paths': [RUN]}, ['list', RUN]),
    ('list', {'paths': [TRACE], 'deep': True}, ['list', TRACE, '--deep']),
    ('info', {'paths': [TRACE]}, ['info', TRACE]),
    ('info', {'paths': [TRACE, OTHER]}, ['info', TRACE, OTHER]),
    ('info', {'paths': ['logs.zip:rank1.json.gz']}, ['info', 'logs.zip:rank1.json.gz']),
    ('report', {'paths': [TRACE], 'findings': True}, ['report', TRACE, '--findings']),
    ('report', {'paths': [RUN], 'findings': True}, ['report', RUN, '--findings']),
    ('top', {'paths': [TRACE], 'kind': 'op'}, ['top', TRACE, '--kind', 'op']),
    ('top', {'paths': [RUN], 'by': 'rank'}, ['top', RUN, '--by', 'rank']),
    ('top', {'paths': [TRACE], 'by': 'kind', 'sort': 'count'}, ['top', TRACE, '--by', 'kind', '--sort', 'count']),
    ('top', {'paths': [TRACE], 'name': ['aten::m*', 'gloo:*']}, ['top', TRACE, '--name', 'aten::m*', '--name', 'gloo:*']),
    ('top', {'paths': [TRACE], 'expr': ['dur > 1ms']}, ['top', TRACE, '-e', 'dur > 1ms']),
    ('tree', {'paths': [TRACE], 'expr': ['depth < 2'], 'kind': 'step'}, ['tree', TRACE, '-e', 'depth < 2', '--kind', 'step']),
    ('tree', {'paths': [TRACE], 'name': ['aten::mm']}, ['tree', TRACE, '--name', 'aten::mm']),
    ('diff', {'paths': [TRACE, OTHER], 'by': 'cat'}, ['diff', TRACE, OTHER, '--by', 'cat']),
    ('diff', {'paths': [TRACE, OTHER], 'name': ['aten::mm']}, ['diff', TRACE, OTHER, '--name', 'aten::mm']),
    ('sql', {'paths': [TRACE], 'execute': ['SELECT count(*), sum(dur) FROM slice']}, ['sql', TRACE, '-e', 'SELECT count(*), sum(dur) FROM slice']),
    ('sql', {'paths': [RUN], 'execute': ['SELECT rank, count(*) FROM event GROUP BY 1']},
     ['sql', RUN, '-e', 'SELECT rank, count(*) FROM event GROUP BY 1']),
    ('check', {'paths': [TRACE]}, None),
    ('view', {'paths': [TRACE], 'step': '1..2'}, None),
)
REFUSED = (
    *(('info', {'paths': [path]}) for path in ('/etc/passwd', '../outside.json', 'link.json', 's3://bucket/x', '@list.txt', '-', '*.gz')),
    *(('sql', {'paths': [TRACE], 'execute': [sql]}) for sql in ("ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", 'DELETE FROM slice')),
    ('top', {'paths': [TRACE], 'output': 'x.json'}), ('sql', {'paths': [TRACE], 'execute': ['SELECT 1'], 'db': 'x.db'}),
)


class Verdict:
    passed = failed = 0

    def expect(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f'FAIL mcp_client: {what}')


def text_of(result):
    return result.content[0].text


def without_folder(value, folder):
    return json.loads(json.dumps(value).replace(folder + '/', ''))


def run_command(folder, words):
    out = subprocess.run([TRACEKIT, *words, '--json', '-q'], cwd=folder, capture_output=True, check=True).stdout
    return json.loads(out)


async def ask_all(session, folder, verdict):
    for tool, arguments, words in QUESTIONS:
        result = await session.call_tool(tool, arguments)
        answer = (result.structured_content or {}).get('answer')
        good = not result.is_error and answer and json.loads(text_of(result)) == result.structured_content
        if good and words and 'left_out' not in result.structured_content:
            good = without_folder(answer, folder) == without_folder(run_command(folder, words), folder)
        verdict.expect(good, f'{tool} {arguments}: {text_of(result)[:300]}')


async def page(session, verdict):
    """Reads a long list in pages; also requests the whole list, which must not fit into an answer."""
    ids, sql = [], 'SELECT id FROM slice ORDER BY id LIMIT 1000'
    while True:
        result = await session.call_tool('sql', {'paths': [TRACE], 'execute': [sql], 'limit': 300, 'offset': len(ids)})
        ids += [row[0] for row in result.structured_content['answer']['results'][0]['rows']]
        verdict.expect(len(text_of(result)) <= 25000, 'a page is too long')
        if 'left_out' not in result.structured_content:
            break
    verdict.expect(len(ids) == 1000 == len(set(ids)), f'pages have {len(ids)} rows')
    for tool in ('top', 'tree', 'report', 'info', 'list'):
        for most in (2000, 20000):
            result = await session.call_tool(tool, {'paths': [RUN], 'max_bytes': most, 'limit': 10000})
            verdict.expect(len(text_of(result)) <= most + 5000, f'{tool}: {len(text_of(result))} bytes instead of {most}')


async def cancel(session, verdict):
    try:
        await asyncio.wait_for(session.call_tool('sql', {'paths': [TRACE], 'execute': [ENDLESS]}), 2)
        verdict.expect(False, 'an endless call returned')
    except asyncio.TimeoutError:
        result = await asyncio.wait_for(session.call_tool('info', {'paths': [TRACE]}), 60)
        verdict.expect(not result.is_error, 'no answer after a call was cancelled')


async def main():
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(os.path.realpath(top), 'traces')
        shutil.copytree(os.path.join(FIXTURES, 'json/torch/ddp2_plain'), folder)
        shutil.copytree(os.path.join(FIXTURES, 'json/torch/ddp2_plain'), os.path.join(folder, RUN))
        shutil.make_archive(os.path.join(folder, 'logs'), 'zip', os.path.join(folder, RUN))
        open(os.path.join(top, 'outside.json'), 'w').write('[]')
        os.symlink('../outside.json', os.path.join(folder, 'link.json'))
        server = StdioServerParameters(command=TRACEKIT, args=['mcp', folder])
        before = sorted(os.listdir(folder))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            verdict.expect({t.name for t in tools.tools} == {q[0] for q in QUESTIONS}, 'tools without a question')
            await ask_all(session, folder, verdict)
            await page(session, verdict)
            for tool, arguments in REFUSED:
                result = await session.call_tool(tool, arguments)
                verdict.expect(result.is_error, f'{tool} {arguments} is not refused: {text_of(result)[:200]}')
            await cancel(session, verdict)
        verdict.expect(before == sorted(os.listdir(folder)), 'files were written')
    print(f'{verdict.passed} passed, {verdict.failed} failed')
    return verdict.failed > 0


sys.exit(asyncio.run(main()))
