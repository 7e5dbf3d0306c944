import { expect, test } from 'bun:test'
import { runProgram, startProgram } from '../../src/platform/program.ts'
import type { Program } from '../../src/platform/program.ts'

/** git stands for any program: its aliases run what a test needs. */
const git = (alias: string, more: Partial<Program> = {}): Program => ({
  argv: ['git', '-c', `alias.it=!${alias}`, 'it'],
  env: { PATH: process.env.PATH! },
  signal: new AbortController().signal,
  deadline: 10_000,
  ...more,
})

test('a program ends with its status and the lines of both streams', async () => {
  const seen: string[] = []
  const onLine = (line: string) => void seen.push(line)
  const { status, lines } = await runProgram(git('echo one; echo two >&2; exit 3', { onLine }))
  expect(status).toBe(3)
  expect(lines.toSorted()).toEqual(['one', 'two'])
  expect(seen.toSorted()).toEqual(['one', 'two'])
})

test('only the last lines of endless output are kept', async () => {
  const { lines } = await runProgram(git('seq 1 5000'))
  expect(lines).toHaveLength(1_000)
  expect(lines.at(-1)).toBe('5000')
})

test('a program that takes too long is ended, and the error says which', async () => {
  const run = runProgram(git('sleep 1000', { deadline: 100 }))
  expect(await run.catch((error) => error.message)).toBe('git didn’t finish within 1 s')
})

test('a program that isn’t on the list is not started', () => {
  const other = { ...git(''), argv: ['touch', '/tmp/x'] as never }
  expect(() => startProgram(other)).toThrow('isn’t one of the programs')
})

test('the file to run may be another than the one in PATH', async () => {
  const { lines } = await runProgram({ ...git(''), argv: ['davit', '--version'], file: 'git' })
  expect(lines[0]).toStartWith('git version')
})
