import { describe, expect, onTestFinished, test } from 'bun:test'
import { isLoss } from '../../src/logs/losses.ts'
import { listening } from '../support/listening.ts'
import { until } from '../support/until.ts'
import { aLiveEnvironment } from '../runs/runs.ts'
import { tokenOf } from '../deployments/uploading.ts'
import { aLaptop, onTerminal } from './laptop.ts'

/** A laptop whose only server has an environment in which busybox is live. */
async function withBusybox() {
  const live = await aLiveEnvironment()
  const { t, ada } = live
  const server = listening(t)
  const address = server.url.origin
  const laptop = aLaptop()
  const env = { DAVIT_SERVER: address, DAVIT_TOKEN: tokenOf(t, ada.user.id) }
  const run = (...args: string[]) => laptop.davit(['run', '--project', 'site', ...args], { env })
  const lastRun = async () => (await ada.get(live.path)).json.items[0]
  /** What `stty` wrote of the terminal, but for its size, which changes. */
  const settings = async (file: string) =>
    (await Bun.file(`${laptop.folder}/${file}`).text()).replace(/rows \d+; columns \d+/, '')
  return { ...live, ...laptop, server, settings, env, run, lastRun }
}

/** A script with a command of Davit that runs one in the app. */
function scriptOnTerminal(
  { start, env }: Pick<Awaited<ReturnType<typeof withBusybox>>, 'start' | 'env'>,
  script: (davit: string) => string,
) {
  const { cmd, ...rest } = start(['run', '--project', 'site'], { env })
  return onTerminal({
    cmd: ['sh', '-c', script(cmd.map((word) => `'${word}'`).join(' '))],
    ...rest,
  })
}

describe('run without a terminal', () => {
  test('passes on its input to the end, however much it is, and none where there is none', async () => {
    const { davit, env, lastRun } = await withBusybox()
    const run = (input: string, ...command: string[]) =>
      davit(['run', '--project', 'site', ...command], { env, input })
    expect(await run('one\ntwo\n', 'cat')).toEqual({ status: 0, stdout: 'one\ntwo\n', stderr: '' })
    const much = 'x'.repeat(99).concat('\n').repeat(30_000)
    expect((await run(much, 'wc', '-c')).stdout.trim()).toBe(`${much.length}`)
    expect((await run(much, 'true')).status).toBe(0)
    expect((await lastRun()).stdin).toBe(true)
    expect((await run('', 'cat')).stdout).toBe('')
  })

  test('stops a command whose input is cut short', async () => {
    const { start, env, lastRun, ended } = await withBusybox()
    const script = 'echo begun; cat > /dev/null; echo complete'
    const child = Bun.spawn({
      ...start(['run', '--project', 'site', 'sh', '-c', script], { env }),
      ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' },
    })
    child.stdin.write('the first half')
    child.stdin.flush()
    for await (const chunk of child.stdout)
      if (Buffer.from(chunk).includes('begun')) child.kill('SIGKILL')
    await child.exited
    const run = await ended(await lastRun())
    expect(run).toMatchObject({ status: 'failed', exitCode: 137 })
  })

  test('passes on both outputs, words as they are, and the exit status', async () => {
    const { run } = await withBusybox()
    const { status, stdout, stderr } = await run(
      ...['sh', '-c', 'echo "$0 out"; echo err >&2; exit 7', 'a b'],
    )
    expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: 'a b out\n', stderr: 'err\n' })
    const json = await run('--json', 'echo one two')
    const [line, , ended] = json.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
      .slice(-3)
    expect([json.status, line.text, ended.exitCode]).toEqual([0, 'one two', 0])
    expect((await run('--', 'ls', '--help')).status).toBe(0)
  })

  test('says that output is missing where it could not be read, and ends with a status for that', async () => {
    const { t, run, lastRun, linesOf, ended, containers } = await withBusybox()
    t.deps.collector.patience = 100
    t.faults.logSnapshot = async function* (_id, { signal }) {
      await new Promise((_, reject) => signal!.addEventListener('abort', reject))
    }
    const { status, stdout, stderr } = await run('echo', 'one')
    const isMarked = (text: string) => isLoss({ stream: 'system', text })
    expect([status, stdout, isMarked(stderr)]).toEqual([125, '', true])
    const found = await ended(await lastRun())
    expect(found).toMatchObject({ status: 'succeeded', exitCode: 0 })
    await until(async () => (await containers()).length === 0)
    expect((await linesOf(found)).filter(isMarked)).toHaveLength(1)
  })

  test('says why a command could not run, and what was stopped', async () => {
    const { run } = await withBusybox()
    const missing = await run('nothing-like-this')
    expect([missing.status, missing.stderr]).toEqual([
      127,
      expect.stringContaining('nothing-like-this'),
    ])
    expect((await run('--timeout', '1', 'sleep', '60')).status).not.toBe(0)
  })

  test('Ctrl-C cancels it', async () => {
    const { start, env, lastRun } = await withBusybox()
    const child = Bun.spawn({
      ...start(['run', '--project', 'site', 'sh', '-c', 'echo begun; sleep 99'], { env }),
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
    })
    for await (const chunk of child.stdout)
      if (Buffer.from(chunk).includes('begun')) child.kill('SIGINT')
    expect(await child.exited).toBe(130)
    expect((await lastRun()).status).toBe('cancelled')
  })
})

describe('run on a terminal', () => {
  test('joins both, with keys, size and exit status, and restores this one', async () => {
    const laptop = await withBusybox()
    const script = (davit: string) =>
      `stty -a >before; ${davit} sh; echo "status $?"; stty -a >after; echo done`
    const terminal = scriptOnTerminal(laptop, script)
    await terminal.shows('/ #')
    terminal.type('stty size\n')
    await terminal.shows('30 100')
    terminal.resize(120, 40)
    terminal.type('sleep 0.2; stty size\n')
    await terminal.shows('40 120')
    // the shell takes keys for text until it runs the command
    terminal.type('echo $((6 * 7)) runs; sleep 999\n')
    await terminal.shows('42 runs')
    // it ends the command in the shell, not the shell; one before that command has begun is lost
    await until(() => {
      terminal.type('\u0003')
      return /42 runs[^]*\/ #/.test(terminal.text)
    })
    terminal.type('exit 5\n')
    await terminal.shows('status 5')
    await terminal.shows('done')
    expect(await laptop.settings('after')).toBe(await laptop.settings('before'))
    expect((await laptop.lastRun()).exitCode).toBe(5)
  })

  test('restores this one and cancels the command when it is ended from outside', async () => {
    const laptop = await withBusybox()
    const script = (davit: string) =>
      `stty -a >before; ${davit} sh; echo "status $?"; stty -a >after; echo done`
    const terminal = scriptOnTerminal(laptop, script)
    await terminal.shows('/ #')
    Bun.spawnSync(['pkill', '-TERM', '-P', String(terminal.child.pid)])
    await terminal.shows('status 143')
    await terminal.shows('done')
    expect(await laptop.settings('after')).toBe(await laptop.settings('before'))
    await until(async () => (await laptop.lastRun()).status === 'cancelled')
  })

  test('joins again when the connection was lost', async () => {
    const laptop = await withBusybox()
    const terminal = scriptOnTerminal(laptop, (davit) => `${davit} sh; echo "status $?"`)
    await terminal.shows('/ #')
    const port = laptop.server.port!
    await laptop.server.stop(true)
    let asked = 0
    const proxy = Bun.serve({
      ...{ port, hostname: '127.0.0.1' },
      fetch({ headers }) {
        if (!headers.has('Upgrade')) asked++ // how the run is going
        return new Response('', { status: 502 })
      },
    })
    onTestFinished(() => proxy.stop(true))
    await terminal.shows('connection was lost')
    await until(() => asked > 1)
    await proxy.stop(true)
    listening(laptop.t, { port })
    terminal.type('echo $((6 * 7))\n')
    await terminal.shows('42')
    terminal.type('exit 3\n')
    await terminal.shows('status 3')
  })

  test('cancels a command that it is not let in to, and says why', async () => {
    const laptop = await withBusybox()
    const { streams } = laptop.t.deps
    const leave = Array.from({ length: streams.limit }, () =>
      streams.enter(laptop.ada.user.id, { isAllowed: () => true, end() {} }),
    )
    const terminal = scriptOnTerminal(laptop, (davit) => `${davit} sh; echo "status $?"`)
    await terminal.shows('status 1')
    expect(terminal.text).toContain(`${streams.limit} live streams`)
    await until(async () => (await laptop.lastRun()).status === 'cancelled')
    for (const end of leave) end()
  })
})
