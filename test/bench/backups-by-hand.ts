import { mkdirSync } from 'node:fs'
import { until } from '../support/until.ts'

/** Lines of a shell in the container of a database, with the variables that it was started with. */
export type Scripts = {
  /** Fails until the server is ready. */
  ready: string
  dump: string
  /** Replaces what is there by what comes in. */
  load: string
}

type Hand = Scripts & { container: string; resticImage: string; folder: string }

/** What a person does: the tool of the database in its container, piped into restic with Davit's limits. */
export async function byHand({ ready, dump, load, container, resticImage, folder }: Hand) {
  mkdirSync(folder)
  const limits = await run(['docker', 'info', '--format', '{{.NCPU}} {{.MemTotal}}'])
  const [cpus, memory] = limits.split(' ').map(Number) as [number, number]
  const restic = (...args: string[]) => [
    ...['docker', 'run', '--rm', '-i', '--network', 'none', '--entrypoint', 'restic'],
    ...['--cpus', `${cpus / 2}`, '--memory', `${Math.round(memory / 2)}`, '--tmpfs', '/tmp'],
    ...['-v', `${folder}:/target`, '-e', 'RESTIC_REPOSITORY=/target', '-e', 'HOME=/tmp'],
    ...['-e', 'RESTIC_PASSWORD=key', resticImage, ...args],
  ]
  const within = (id: string, script: string) => ['docker', 'exec', '-i', id, 'sh', '-c', script]
  const read = restic('dump', 'latest', '/dump')
  await piped(restic('init'))

  return {
    backup: () =>
      piped(within(container, dump), restic('backup', '--stdin', '--stdin-filename', 'dump')),
    restore: () => piped(read, within(container, load)),
    async proof() {
      const server = await startLike(container)
      const isReady = () =>
        piped(within(server, ready)).then(
          () => true,
          () => false,
        )
      try {
        await until(isReady)
        await piped(read, within(server, load))
      } finally {
        await piped(['docker', 'rm', '--force', '--volumes', server])
      }
    },
  }
}

/** An empty server of the same image and variables. Returns its id. */
async function startLike(container: string) {
  const [found] = JSON.parse(await run(['docker', 'inspect', container]))
  const { Env, Cmd } = found.Config as { Env: string[]; Cmd: string[] | null }
  const env = Env.flatMap((one) => ['-e', one])
  const memory = `${found.HostConfig.Memory || 2 ** 30}`
  const options = ['--network', 'none', '--memory', memory, ...env]
  return run(['docker', 'run', '-d', ...options, found.Image, ...(Cmd ?? [])])
}

/** Runs them in a shell's own pipe, without a byte passing through this process. */
async function piped(...commands: string[][]) {
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  const lines = commands.map((command) => command.map(quoted).join(' ')).join(' | ')
  await run(['bash', '-c', `set -o pipefail; ${lines} > /dev/null`])
}

export async function run(command: string[]) {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [status, text, errors] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ])
  if (status !== 0) throw new Error(errors.trim())
  return text.trim()
}
