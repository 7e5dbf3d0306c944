import { expect, test } from 'bun:test'
import { levelOf } from '../../src/logs/level.ts'
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
