import { onTestFinished } from 'bun:test'
import { join } from 'node:path'
import { anApp, aProject } from '../deployments/apps.ts'
import { keptBy, tokenOf } from '../deployments/uploading.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { bareEnvironment } from '../support/davit.ts'
import { aFolder } from '../support/folder.ts'
import { git } from '../support/git-server.ts'
import { listening } from '../support/listening.ts'
import { until } from '../support/until.ts'

const main = join(import.meta.dir, '../../src/main.ts')

type Options = { input?: string; cwd?: string; env?: Record<string, string> }

/** A folder with a configuration of its own, in which commands of Davit run as processes. */
export function aLaptop() {
  const home = aFolder()
  const folder = aFolder()
  const start = (args: string[], { cwd = folder, env = {} }: Options = {}) => ({
    cmd: [process.execPath, main, ...args],
    cwd,
    env: { ...bareEnvironment(), HOME: home, GIT_CONFIG_NOSYSTEM: '1', ...env },
  })
  return {
    home,
    folder,
    loginsFile: join(home, '.config/davit/servers.json'),
    start,
    /** Runs a command to its end, without a terminal. */
    async davit(args: string[], options: Options = {}) {
      const child = Bun.spawn({
        ...start(args, options),
        stdin: new Blob([options.input ?? '']),
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
      return { status: await child.exited, stdout, stderr }
    },
    write: (files: Record<string, string>) =>
      Promise.all(Object.entries(files).map(([path, text]) => Bun.write(join(folder, path), text))),
    git: (...args: string[]) => git(folder, args),
  }
}

/** A process on a terminal of its own. */
export function onTerminal(process: { cmd: string[]; cwd: string; env: object }) {
  let text = ''
  const { cmd, ...options } = process
  const child = Bun.spawn(cmd, {
    ...(options as { cwd: string; env: Record<string, string> }),
    terminal: {
      ...{ cols: 100, rows: 30 },
      data: (_: unknown, bytes: Uint8Array) => (text += Buffer.from(bytes).toString()),
    },
  })
  onTestFinished(() => child.kill('SIGKILL'))
  return {
    child,
    type: (keys: string) => child.terminal!.write(keys),
    resize: (columns: number, rows: number) => child.terminal!.resize(columns, rows),
    shows: (wanted: string) => until(() => text.includes(wanted)),
    get text() {
      return text
    },
  }
}

/** A logged-in laptop, with a repository whose project is on a server with the simulated engine. */
export const withServer = (options?: Parameters<typeof simulatedApp>[1]) =>
  withServerOf(simulatedApp({}, options))

/** The same with any engine. */
export async function withServerOf(app: TestApp) {
  const { t, ada } = withAda(app)
  const { url } = listening(t)
  const laptop = aLaptop()
  const files = anApp('from a laptop') as Record<string, string>
  const project = await aProject(t, ada, files)
  await laptop.write(files)
  laptop.git('init', '--quiet', '--initial-branch=main')
  laptop.git('remote', 'add', 'origin', project.repository.url)
  laptop.git('add', '.')
  laptop.git('commit', '--quiet', '-m', 'A page')
  const token = tokenOf(t, ada.user.id)
  const address = url.origin
  const login = await laptop.davit(['login', address], { input: token })
  if (login.status !== 0) throw new Error(login.stderr)
  return { t, ada, project, token, address, ...laptop, kept: () => keptBy(t) }
}
