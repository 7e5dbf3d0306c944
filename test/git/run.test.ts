import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GitError, type GitSetup, runGit } from '../../src/git/run.ts'

const home = mkdtempSync(join(tmpdir(), 'davit-run-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const setup: GitSetup = {
  home,
  allowLocal: false,
  deadlines: { command: 5_000, transfer: 5_000, silence: 5_000 },
}
const signal = new AbortController().signal
/** Seconds that only the helpers of this run sleep. */
const nap = 100_000 + process.pid

describe('git', () => {
  test('gives what it wrote', async () => {
    const output = await runGit(setup, { command: 'version', signal })
    expect(output.toString()).toStartWith('git version')
  })

  test.each(['--upload-pack=touch marker;', '-h', '-', 'a\0b'])(
    'is never given %p as a value',
    async (value) => {
      const run = runGit(setup, { command: 'ls-remote', values: [value], signal })
      expect(await run.catch((error) => error.message)).toContain('Not a value for git')
      expect(existsSync(join(home, 'marker'))).toBe(false)
    },
  )

  test.each([`ext::sh -c touch%20${home}/marker`, `file://${home}`, home, 'git://127.0.0.1/x'])(
    'itself refuses %p, had it slipped through',
    async (url) => {
      const error = await runGit(setup, { command: 'ls-remote', values: [url], signal }).catch(
        (e) => e,
      )
      expect(error).toBeInstanceOf(GitError)
      expect(error.message).toContain('not allowed')
      expect(existsSync(join(home, 'marker'))).toBe(false)
    },
  )

  test('sees nothing of our environment', async () => {
    process.env.DAVIT_TEST_SECRET = 'hush'
    const output = await runGit(setup, {
      command: 'show-env',
      config: ['alias.show-env=!env'],
      signal,
    })
    delete process.env.DAVIT_TEST_SECRET
    expect(output.toString()).not.toContain('hush')
    expect(output.toString()).toContain(`HOME=${home}`)
    expect(output.toString()).toContain('GIT_TERMINAL_PROMPT=0')
  })

  test('ends at its deadline with all that it started', async () => {
    const hurried = { ...setup, deadlines: { ...setup.deadlines, command: 200 } }
    const config = [`alias.nap=!sleep ${nap} & sleep ${nap}`]
    const started = performance.now()
    const run = runGit(hurried, { command: 'nap', config, signal })
    expect(await run.catch((error) => error)).toMatchObject({ code: 'git_timeout' })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(Bun.spawnSync(['pgrep', '-f', `^sleep ${nap}$`]).stdout.toString()).toBe('')
  })

  test('that left a helper behind ends with it', async () => {
    const hurried = { ...setup, deadlines: { ...setup.deadlines, command: 200 } }
    const config = [`alias.leave=!sleep ${nap} & exit 0`]
    const run = runGit(hurried, { command: 'leave', config, signal })
    expect(await run.catch((error) => error)).toMatchObject({ code: 'git_timeout' })
    expect(Bun.spawnSync(['pgrep', '-f', `^sleep ${nap}$`]).stdout.toString()).toBe('')
  })

  test('that ignores a polite end is killed', async () => {
    const cancel = new AbortController()
    const config = ["alias.stay=!trap '' TERM; echo ready >&2; while :; do sleep 0.2; done"]
    const log = () => cancel.abort(new Error('Cancelled.'))
    const run = runGit(setup, { command: 'stay', config, signal: cancel.signal, log })
    expect(await run.catch((error) => error)).toMatchObject({ message: 'Cancelled.' })
  })

  test('is not started at all after an abort', async () => {
    const run = runGit(setup, { command: 'version', signal: AbortSignal.abort(new Error('No.')) })
    expect(await run.catch((error) => error)).toMatchObject({ message: 'No.' })
  })

  test('takes input larger than a pipe', async () => {
    const input = new Uint8Array(3_000_000).fill(65)
    const options = ['--stdin']
    const output = await runGit(setup, { command: 'hash-object', options, input, signal })
    expect(output.toString().trim()).toHaveLength(40)
  })

  test('that is not installed is an explained failure', async () => {
    const path = process.env.PATH
    process.env.PATH = home
    try {
      const error = await runGit(setup, { command: 'version', signal }).catch((e) => e)
      expect(error).toMatchObject({ code: 'git_missing' })
    } finally {
      process.env.PATH = path
    }
  })
})
