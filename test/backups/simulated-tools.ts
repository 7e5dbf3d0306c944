import { PassThrough, Readable } from 'node:stream'
import type { StoredContents } from '../../src/db/schema.ts'
import type { Docker } from '../../src/docker/index.ts'
import { getBackup, setBackup } from '../../src/backups/store.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { restoring } from './restoring.ts'
import { aService } from './scene.ts'

type Engine = StoredContents['engine']

const images: Record<Engine, string> = {
  postgresql: 'postgres',
  mysql: 'mysql',
  redis: 'redis',
  mongodb: 'mongo',
}

const version = '8.0.1'

/**
 * A backup of a service whose components each have one database of the same name, on the simulated engine, whose tools
 * only note what they are run for. With `volume`, it has the files of that one, too; the databases’ data is in `data`.
 */
export async function aDatabase(engine: Engine, components = ['one'], volume?: string) {
  const scene = await aService()
  const { t, ada, restic, service } = scene
  const { id, files } = await scene.backUp()
  const image = images[engine]
  t.engine.addImage({ tags: [`${image}:latest`], command: ['sleep', '999'] })
  const environment = '{ MYSQL_ROOT_PASSWORD: secret, POSTGRES_PASSWORD: secret }'
  const server = `{ image: ${image}, environment: ${environment}, volumes: ["data:/data", "more:/more"] }`
  const compose = `
services:
${components.map((name) => `  ${name}: ${server}`).join('\n')}
volumes: { data: {}, more: {} }
`
  const { status, text } = await ada.put(`/services/${service.id}`, { compose })
  if (status !== 200) throw new Error(text)
  await t.jobs.idle()
  const dump = Buffer.from('all of the dump')
  const checksum = new Bun.CryptoHasher('sha256').update(dump).digest('hex')
  const fileOf = (component: string) => `${component}/app`
  setBackup(t.db, id, {
    files: [
      ...components.map((name) => ({
        ...files[0],
        ...{ volumes: undefined, file: fileOf(name), checksum },
      })),
      ...(volume ? [{ ...files[0], volumes: [volume] }] : []),
    ],
    contents: components.map((component) => ({
      ...{ component, engine, version },
      databases: [{ name: 'app', file: fileOf(component), tables: [] }],
    })),
  })
  const reads: string[] = []
  restic.faults.read = ({ file, to, signal }) => {
    reads.push(file)
    return to(Readable.from([dump]), signal)
  }

  const runs: string[] = []
  const ofServer = [{ version }, { database: 'app' }]
  const ofDatabase = engine === 'postgresql' ? [{ create: [], extensions: [] }] : []
  const ended = { exitCode: 0, oomKilled: false, stderr: '' }
  const execPiped: Docker['execPiped'] = async (_, { stdin, stdout, env, signal }) => {
    if (stdin) {
      runs.push('load')
      await stdin(new PassThrough().resume(), signal!, 'tools')
    } else if (!stdout) runs.push('undo')
    else {
      const lines = env?.DAVIT_DATABASE === undefined ? ofServer : ofDatabase
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      await stdout(Readable.from([Buffer.from(text)]), signal!)
    }
    return ended
  }
  const runPiped: Docker['runPiped'] = ({ stdin, signal }) => {
    void stdin!(new PassThrough().resume(), signal!, 'tools')
    return unlessAborted(new Promise<never>(() => {}), signal!)
  }
  Object.assign(t.deps.docker, { execPiped, runPiped })
  return { ...scene, id, runs, reads, dump, restoreOf: () => getBackup(t.db, id)!.restore! }
}

/** A restore that Davit's end interrupted, as the next process takes it up. */
export const interrupted = async (...of: Parameters<typeof aDatabase>) =>
  interrupt(await aDatabase(...of))

/** The same of a backup that is there, by default into what it is of. */
export async function interrupt(
  scene: Awaited<ReturnType<typeof aDatabase>>,
  body: Record<string, unknown> = { backupFirst: false },
) {
  const { restic, ada, t, id, runs } = scene
  const began = restic.stall('list')
  await ada.post(`/backups/${id}/restore`, body)
  await began
  await t.jobs.stop()
  delete restic.faults.list
  if (scene.restoreOf().status !== 'running' || runs.length > 0) throw new Error('It went on.')
  return { ...scene, ...restoring(t, id) }
}
