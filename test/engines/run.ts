import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeGroups, startPrivateEngine } from '../faults/private-engine.ts'
import { bunImage, ensureBunImage } from '../support/images/bun.ts'
import { caddyImage, pebbleImage } from '../support/images/edge.ts'
import { imageOf, nextPostgres, recipes } from '../support/images/recipes.ts'
import { isOf } from './engines.ts'
import type { TestedEngine } from './engines.ts'
import { ensureRoot } from './root.ts'

type Options = {
  /** Keeps roots, and what the engine has while it runs. */
  folder: string
  /** Files and folders, and options of the test runner. */
  tests: string[]
  say: (line: string) => void
  signal: AbortSignal
}

/**
 * Runs the tests where that engine is the machine's, with its networks and processes and no others;
 * all of it is gone when they are done, or when `signal` aborts.
 */
export async function testAgainst(engine: TestedEngine, { folder, tests, say, signal }: Options) {
  const began = performance.now()
  const root = await ensureRoot(engine, { folder, say })
  const within = join(folder, `${engine.suite}-data`)
  await removeLeft(within)
  await mkdir(within)
  await ensureBunImage({ say })
  await using undo = new AsyncDisposableStack()
  undo.defer(() => removeLeft(within))
  const docker = await startPrivateEngine({ root, within, images: await testImages() })
  let ending: Promise<void> | undefined
  const end = () => (ending ??= docker[Symbol.asyncDispose]())
  undo.defer(end)
  signal.throwIfAborted()
  signal.addEventListener('abort', end)
  const found = await versionOf(docker.socket)
  say(`Docker Engine ${found.text}, of Debian ${engine.suite}`)
  if (!isOf(engine, found.version))
    throw new Error(
      `Debian ${engine.suite} has Docker ${found.version} now: name it in test/engines and in the documentation.`,
    )
  const place = 'cd "$1" && mount --bind "$2" /var/run/docker.sock && shift 2 && exec "$@"'
  const inPlace = ['sh', '-c', place, 'sh', process.cwd(), docker.socket]
  const test = ['test', '--parallel=3', '--timeout', '120000', '--timings', 'test/timings.json']
  const child = Bun.spawn([...docker.inside, ...inPlace, process.execPath, ...test, ...tests], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'pipe',
    env,
  })
  const output = await passOn(child.stderr)
  const exitCode = await child.exited
  const count = (what: string) =>
    Number([...output.matchAll(RegExp(`^ *(\\d+) ${what}$`, 'gm'))].at(-1)?.[1] ?? 0)
  const [passed, failed] = [count('pass'), count('fail')]
  const took = Math.round((performance.now() - began) / 1000)
  const line = `${found.version}, ${passed} passed, ${failed} failed, ${took} s`
  return { passed, failed, isGood: exitCode === 0, line }
}

/** A run that was killed could remove nothing. */
async function removeLeft(within: string) {
  const names = existsSync(within) ? await readdir(within) : []
  for (const name of names) await removeGroups(name)
  await rm(within, { recursive: true, force: true })
}

const { DOCKER_HOST: _, ...env } = process.env

/** All that the tests use, as this machine's engine has it. */
async function testImages() {
  const services = await Promise.all(recipes.map(({ template }) => imageOf(template)))
  return [bunImage, caddyImage, pebbleImage, ...services, await nextPostgres()]
}

type Version = {
  Version: string
  ApiVersion: string
  MinAPIVersion: string
  Components: { Name: string; Version: string }[]
}

async function versionOf(unix: string) {
  const answer = await fetch('http://localhost/version', { unix })
  const { Version, ApiVersion, MinAPIVersion, Components } = (await answer.json()) as Version
  const parts = Components.filter(({ Name }) => ['containerd', 'runc'].includes(Name))
  const others = parts.map((part) => `${part.Name} ${part.Version}`)
  return {
    version: Version,
    text: [Version, `API ${MinAPIVersion} to ${ApiVersion}`, ...others].join(', '),
  }
}

/** The text that went through. */
async function passOn(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream) {
    process.stderr.write(bytes)
    text += decoder.decode(bytes, { stream: true })
  }
  return text
}
