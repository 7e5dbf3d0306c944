import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dir, '../..')

export type DavitProcess = Awaited<ReturnType<typeof startDavit>>

/**
 * Starts Davit as a process of its own, on a free port, and waits until it says where it listens.
 * Its log is `davit.log` in `directory`, what else it says `davit.out`; `stop` asks it to end and
 * answers its exit status.
 */
export async function startDavit({
  directory,
  command = [process.execPath, 'src/main.ts', 'serve'],
  cwd = repository,
  env = {},
  detached = false,
}: {
  directory: string
  command?: string[]
  cwd?: string
  env?: Record<string, string>
  /** In a session of its own, out of reach of a Ctrl-C in our terminal. */
  detached?: boolean
}) {
  const log = join(directory, 'davit.log')
  const child = Bun.spawn(command, {
    cwd,
    env: { ...bareEnvironment(), DAVIT_PORT: '0', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: Bun.file(log),
    detached,
  })
  const url = await readAddress(child.stdout, join(directory, 'davit.out'))
  if (!url) {
    await child.exited
    throw new Error(`Davit does not start: ${(await Bun.file(log).text()).trim()}`)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    const impatience = setTimeout(() => child.kill('SIGKILL'), 25_000)
    await child.exited
    clearTimeout(impatience)
    return child.exitCode
  }
  return { url, pid: child.pid, stop, exited: child.exited }
}

/** The code for the first account, which a Davit that others can reach asks for; else null. */
export function setupCodeIn(dataDir: string) {
  const path = join(dataDir, 'setup-code')
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

/** What a server needs of our environment; no `DAVIT_*` of the person who runs the tests. */
export function bareEnvironment() {
  const names = ['PATH', 'HOME', 'TMPDIR', 'DOCKER_HOST', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
}

/** Reads to the end, lest the server writes to a closed pipe, but answers as soon as it can. */
function readAddress(stdout: ReadableStream<Uint8Array>, copy: string) {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const read = async () => {
    let text = ''
    for await (const chunk of stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk
      appendFileSync(copy, chunk)
      const address = text.match(/^Davit \S+ listens on (http:\S+)$/m)?.[1]
      if (address) resolve(address)
    }
    resolve(null)
  }
  void read()
  return promise
}
