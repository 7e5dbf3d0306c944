import { expect, test } from 'bun:test'
import { levelOf } from '../../src/logs/level.ts'
import { LineLevels } from '../../src/logs/line-levels.ts'
import { growth, linear } from '../support/cost.ts'

test.each([
  'ERROR: relation "users" does not exist',
  '2026-11-20 03:00:00.123 [error] 31#31: *1 open() failed',
  '{"level":"error","msg":"no"}',
  '{"level":50,"time":1,"msg":"no"}',
  'time=2026-11-20T03:00:00Z level=error msg="no"',
  'npm ERR! missing script: build',
  'npm error code ENOENT',
  '#8 ERROR: process "/bin/sh -c exit 1" did not complete successfully: exit code: 1',
  '#8 npm ERR! code 1',
  "TypeError: Cannot read properties of undefined (reading 'x')",
  '  Error [ERR_MODULE_NOT_FOUND]: Cannot find package',
  'Traceback (most recent call last):',
  'panic: runtime error: index out of range',
  'main.c:3:5: error: expected ;',
  'src/x.ts(3,5): error TS2304: Cannot find name',
  'error[E0432]: unresolved import',
  'FATAL:  password authentication failed for user "app"',
  'Failed: Build failed: a step failed with exit code 1.',
  '\u001b[31mERROR\u001b[0m no',
])('%s is an error', (text) => expect(levelOf(text.trimStart())).toBe('error'))

test.each([
  ['warn', 'WARNING: no config found'],
  ['warn', '{"severity":"WARNING","message":"slow"}'],
  ['warn', 'npm warn deprecated x@1'],
  ['info', '{"level":30,"msg":"ready"}'],
  ['info', 'INFO  listening on 8080'],
  ['debug', 'level=debug msg=x'],
] as const)('a line is seen to be of level %s: %s', (level, text) =>
  expect(levelOf(text)).toBe(level),
)

test.each([
  'GET /errors 200',
  'found 0 errors',
  'no-error-handling is off',
  'compiled without problems',
  'the information desk',
  '',
])('nothing is read into “%s”', (text) => expect(levelOf(text)).toBeNull())

test.each(['a', ' ', '{', '"level', 'Error', '#1 ', 'x.', '\u001b['])(
  'a line of many “%s” takes linear time',
  (piece) => {
    expect(growth((length) => levelOf(piece.repeat(length)), 8192)).toBeLessThan(linear)
  },
)

const traces: Record<string, string> = {
  Java: 'Exception in thread "main" java.lang.IllegalStateException: no\n\tat a.B.c(B.java:3)\nCaused by: java.io.IOException: x\n\tat a.D.e(D.java:9)\n\t... 12 more',
  'a logger of Java':
    '2026-11-20 ERROR [main] a.B - no\njava.lang.IllegalStateException: no\n\tat a.B.c(B.java:3)\n... 3 common frames omitted',
  Python:
    'Traceback (most recent call last):\n  File "/app/a.py", line 3, in <module>\n    f()\nrequests.exceptions.Timeout: slow\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "/app/a.py", line 5\nKeyboardInterrupt',
  JavaScript:
    "TypeError: no\n    at f (/app/a.js:1:2)\n    at async g (/app/b.js:3:4) {\n  code: 'X',\n  [cause]: Error: why\n}",
  'JavaScript without indents': 'Error: no\nat f (/app/a.js:1:2)\nat /app/b.js:3:4',
  Go: 'panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.f(0x1, 0x2)\n\t/app/main.go:5 +0x1d\ncreated by main.main in goroutine 1\nexit status 2',
  '.NET':
    'Error: System.Exception: no\n   at A.B() in /a.cs:line 3\n--- End of inner exception stack trace ---\n ---> System.IO.IOException: x\n   at C.D()',
  'the logger of .NET':
    'fail: Microsoft.AspNetCore[13]\n      Connection id: no\n         at A.B()',
  'a group of Python':
    'Traceback (most recent call last):\n  + Exception Group Traceback (most recent call last):\n    | ValueError: 1\n    +----',
  Postgres: '[1] ERROR:  relation "x" does not exist\n[1] STATEMENT:  SELECT\n\t1',
  PHP: 'PHP Fatal error:  Uncaught Exception: no in /a.php:3\nStack trace:\n#0 /a.php(3): f()\n#1 {main}\n  thrown in /a.php on line 3',
  Ruby: "ERROR -- : no (RuntimeError)\n\tfrom a.rb:5:in `<main>'\nfrom b.rb:6:in `f'",
  Elixir:
    '03:00:00.000 [error] Task #PID<0.1.0> terminating\n** (RuntimeError) no'.split('\n')[0] +
    '\n    (app 1.0) lib/a.ex:3: A.b/1',
  Rust: "thread 'main' panicked at src/main.rs:2:5:\\nnote: run with `RUST_BACKTRACE=1`\\nstack backtrace:\\n   0: core::panic".replaceAll(
    '\\\\n',
    '\\n',
  ),
  'a build': '#8 ERROR: no\n#8     at f (/app/a.js:1:2)',
}

test.each(Object.entries(traces))('the lines of a trace of %s belong together', (_, trace) => {
  const levels = new LineLevels()
  const of = (text: string, stream = 'stderr') => levels.of({ stream, text })
  expect(of('served 1')).toBeNull()
  for (const line of trace.split('\n')) {
    const mid = trace.startsWith('#8') ? '#9 fetching' : 'served 2'
    expect(of(mid, trace.startsWith('#8') ? 'stderr' : 'stdout')).toBeNull()
    if (line !== '') expect([line, of(line)]).toEqual([line, 'error'])
    else of(line)
  }
  expect(of('served 3')).toBeNull()
  expect(of('INFO served')).toBe('info')
  expect(of('  with details')).toBe('info')
  expect(of(' WARN slow')).toBe('warn')
})
