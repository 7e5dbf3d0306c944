import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import type { Deployment } from '../demo/deploy.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { until } from '../support/until.ts'
import { installedServer } from './installed.ts'

export type TwoServers = Awaited<ReturnType<typeof startTwoServers>>

const dockerfile = `FROM busybox
RUN mkdir /www && echo '<title>Harbour</title><p>Ships in' > /www/index.html
EXPOSE 8080
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`

type Item = { id: string }

/**
 * Two servers with Davit: the old one has an app with a volume and a PostgreSQL with a row; its root may log in to
 * the new one by ssh. `executables` is a folder with versions of Davit.
 */
export async function startTwoServers(executables: string) {
  const [old, next] = await Promise.all([
    startSystemdMachine({ engine: true }),
    startSystemdMachine({ engine: true }),
  ])
  const leave = () => Promise.all([old.leave(), next.leave()])
  const restic = await ensureRestic('0.18')
  try {
    for (const { shared } of [old, next])
      for (const version of ['0.1.0', '0.2.0'])
        await copyFile(join(executables, `davit-${version}`), join(shared, `davit-${version}`))
    const [oldServer, nextServer] = [installedServer(old), installedServer(next)]
    await Promise.all([
      oldServer.install('0.1.0', {
        DAVIT_ALLOW_LOCAL_REPOS: '1',
        DAVIT_PUBLISH_ADDRESS: '0.0.0.0',
        DAVIT_LOG_DAYS: '9',
        DAVIT_RESTIC_IMAGE: restic,
      }),
      nextServer.install('0.1.0', { DAVIT_PUBLISH_ADDRESS: '0.0.0.0' }),
      allowLogin(),
    ])
    await fill()
    return { old, next, oldServer, nextServer, leave, logIn, register, row, write, note }

    /** Runs sshd on the new server, which root of the old one may use. */
    async function allowLogin() {
      const env = { DEBIAN_FRONTEND: 'noninteractive' }
      const install = ['apt-get', 'install', '--yes', '--no-install-recommends', 'openssh-server']
      await next.must(['apt-get', 'update'], { env })
      await next.must(install, { env })
      await old.must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/root/.ssh/id_ed25519'])
      await Bun.write(
        join(next.shared, 'key'),
        await old.must(['cat', '/root/.ssh/id_ed25519.pub']),
      )
      await next.must([
        'install',
        '-D',
        '-m',
        '600',
        `${next.sharedInside}/key`,
        '/root/.ssh/authorized_keys',
      ])
      await Bun.write(join(old.shared, 'hosts'), await old.must(['ssh-keyscan', next.address]))
      await old.must(['cp', `${old.sharedInside}/hosts`, '/root/.ssh/known_hosts'])
    }

    async function fill() {
      await Promise.all([old.loadImage('busybox:latest'), old.loadImage('postgres:17.11')])
      await Promise.all([old.loadImage(restic), next.loadImage(restic)])
      await Bun.write(join(old.shared, 'Dockerfile'), dockerfile)
      await old.must(['install', '-D', `${old.sharedInside}/Dockerfile`, '/srv/app/Dockerfile'])
      const git = ['git', '-C', '/srv/app', '-c', 'user.name=A', '-c', 'user.email=a@example.com']
      await old.must([...git, 'init', '--quiet', '--initial-branch=main'])
      await old.must([...git, 'add', '.'])
      await old.must([...git, 'commit', '--quiet', '--message', 'Begin'])
      await old.must(['chown', '-R', 'davit', '/srv/app'])
      const davit = await register(old)
      const project = await davit.post<Item>('/projects', {
        name: 'harbour',
        repositoryUrl: 'file:///srv/app',
      })
      const { items } = await davit.get<{ items: Item[] }>(`/projects/${project.id}/envs`)
      await davit.put(`/projects/${project.id}/envs/${items[0]!.id}`, {
        volumes: ['ships:/data'],
      })
      const service = await davit.post<Item>('/services/postgresql', { name: 'logbook' })
      const started = await davit.post<Deployment>(`/projects/${project.id}/deployments`)
      const isRunning = async (path: string) =>
        (await davit.get<{ status: string }>(path)).status === 'running'
      await until(() => isRunning(`/projects/${project.id}/deployments/${started.id}`), 120)
      await until(() => isRunning(`/services/${service.id}`), 120)
      await execIn(old, 'kind=app', [
        'sh',
        '-c',
        'echo arrived-by-ship > /data/note; chown 1234:99 /data/note; ln /data/note /data/other',
      ])
      await sql(old, `CREATE TABLE logs (said text); INSERT INTO logs VALUES ('ahoy')`)
    }
  } catch (error) {
    await leave()
    throw error
  }
}

type Machine = Awaited<ReturnType<typeof startSystemdMachine>>

const clientOf = (address: string) =>
  new DavitClient({ url: `http://${address}:3000`, signal: AbortSignal.timeout(900_000) })

/** Runs a program in a container of Davit on a server. */
async function execIn({ must }: Machine, label: string, command: string[]) {
  const id = await must(['docker', 'ps', '--quiet', '--filter', `label=davit.${label}`])
  return must(['docker', 'exec', id, ...command])
}

const sql = (machine: Machine, text: string) =>
  execIn(machine, 'kind=service', [
    'sh',
    '-c',
    `psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --tuples-only --no-align --command "${text}"`,
  ])

const account = { email: 'ada@example.com', password: 'correct horse battery' }

async function logIn({ address }: Machine) {
  const davit = clientOf(address)
  await davit.enter('/auth/login', account)
  return davit
}

/** The first account of a server. */
async function register({ must, address }: Machine) {
  const log = await must(['journalctl', '--unit=davit', '--output=cat', '--no-pager'])
  const setupCode = [...log.matchAll(/Setup code: (\S+)/g)].at(-1)![1]
  const davit = clientOf(address)
  await davit.enter('/auth/register', { ...account, setupCode })
  return davit
}

/** Adds a row to the database of a server. */
const write = (machine: Machine, text: string) =>
  sql(machine, `INSERT INTO logs VALUES ('${text}')`)

/** What the database of a server says. */
const row = (machine: Machine) => sql(machine, 'SELECT said FROM logs')

/** The file in the app's volume, with its owner and number of links. */
const note = (machine: Machine) =>
  execIn(machine, 'kind=app', ['sh', '-c', 'cat /data/note; stat -c %u:%g:%h /data/note'])
