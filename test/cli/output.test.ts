import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { aFolder } from '../support/folder.ts'

const module = (path: string) => JSON.stringify(join(import.meta.dir, '../../src', path))

/** A process with a command that runs `body`. */
async function aCommand(body: string) {
  const file = join(aFolder(), 'command.ts')
  await Bun.write(
    file,
    `import { Readable } from 'node:stream'
    import { pipeline } from 'node:stream/promises'
    import { writtenToItsEnd } from ${module('cli/output.ts')}
    import { interruption } from ${module('client/interruption.ts')}
    process.exit(await writtenToItsEnd(async () => { ${body} }))`,
  )
  return { cmd: [process.execPath, file], stderr: 'pipe' as const }
}

const bytes = 1_000_000

test('a reader that begins when the command is over gets all that it wrote', async () => {
  const child = Bun.spawn({
    ...(await aCommand(`
      process.stdout.write('x'.repeat(${bytes}))
      process.stderr.write('over')
      return 3`)),
    stdout: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  const said = await child.stderr.getReader().read()
  expect(Buffer.from(said.value!).toString()).toBe('over')
  expect((await child.stdout.text()).length).toBe(bytes)
  expect(await child.exited).toBe(3)
})

test('a command whose output can’t be written has failed, and says so', async () => {
  const { cmd } = await aCommand(`process.stdout.write('x'); return 0`)
  const shell = ['sh', '-c', '"$@" > /dev/full', 'sh', ...cmd]
  const { exitCode, stderr } = Bun.spawnSync({ cmd: shell })
  expect([exitCode, stderr.toString()]).toEqual([1, expect.stringContaining('ENOSPC')])
})

test('a command that goes on ends when the reader of its output has gone', async () => {
  const { cmd } = await aCommand(`
    using interrupted = interruption()
    while (!interrupted.signal.aborted) {
      process.stdout.write('line\\n')
      await new Promise(setImmediate)
    }
    return interrupted.status`)
  const shell = ['bash', '-c', '"$@" | head -1; exit ${PIPESTATUS[0]}', 'bash', ...cmd]
  const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd: shell })
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([141, 'line\n', ''])
})

/** Its status and errors, with its output in a file. */
async function intoFile(body: string, file: string) {
  const child = Bun.spawn({ ...(await aCommand(body)), stdout: Bun.file(file) })
  onTestFinished(() => child.kill('SIGKILL'))
  return [await child.exited, await child.stderr.text()]
}

test('a command whose output couldn’t be written before its end has one all the same', async () => {
  const body = `
    process.stdout.write('x')
    await new Promise((resolve) => process.stdout.once('error', resolve))
    return 0`
  expect(await intoFile(body, '/dev/full')).toEqual([1, expect.stringContaining('ENOSPC')])
})

test('a command that passes a whole stream to a file ends', async () => {
  const file = join(aFolder(), 'output')
  const body = `await pipeline(Readable.from(['x'.repeat(${bytes})]), process.stdout); return 0`
  expect(await intoFile(body, file)).toEqual([0, ''])
  expect(Bun.file(file).size).toBe(bytes)
})

test('a stream that breaks off is no output that can’t be written', async () => {
  const body = `
    using interrupted = interruption()
    const broken = Object.assign(new Error(), { code: 'ECONNRESET' })
    const source = new Readable({ read() { this.destroy(broken) } })
    await pipeline(source, process.stdout).catch(() => {})
    return interrupted.signal.aborted ? interrupted.status : 7`
  expect(await intoFile(body, join(aFolder(), 'output'))).toEqual([7, ''])
})
