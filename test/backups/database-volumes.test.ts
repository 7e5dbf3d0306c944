import { expect, test } from 'bun:test'
import { PassThrough, Readable } from 'node:stream'
import type { Docker } from '../../src/docker/index.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { recipeOf } from '../../src/backups/recipes/index.ts'
import { planContainers } from '../../src/services/compose/containers.ts'
import { readCompose, samplesOf, stackOf } from '../../src/services/compose/template.ts'
import { aService } from './scene.ts'

const database =
  'image: postgres, environment: { POSTGRES_PASSWORD: secret }, volumes: ["data:/var/lib/postgresql/data", "fast:/spaces", "certs:/certs"]'

const withDatabase = `
services:
  db: { ${database} }
volumes: { data: {}, fast: {}, certs: {} }
`

/** A backup of a server of PostgreSQL with that tablespace, on the simulated engine, whose tools only say what is needed. */
async function backedUp(tablespace: string) {
  const scene = await aService()
  const { t, ada, service } = scene
  t.engine.addImage({ tags: ['postgres:latest'], command: ['sleep', '999'] })
  const { status, text } = await ada.put(`/services/${service.id}`, { compose: withDatabase })
  if (status !== 200) throw new Error(text)
  await t.jobs.idle()
  const server = [{ version: '18.1' }, { database: 'app' }, { folder: tablespace }]
  const said = (script: string) => {
    if (script.includes('pg_dumpall')) return 'CREATE ROLE ada;\n'
    if (script.includes('pg_dump ')) return '{"create":[],"extensions":[]}\n\nall of it'
    return server.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
  const execPiped: Docker['execPiped'] = async (_, { command, stdout, signal }) => {
    await stdout!(Readable.from([Buffer.from(said(command.at(-1)!))]), signal!)
    return { exitCode: 0, oomKilled: false, stderr: '' }
  }
  const runPiped: Docker['runPiped'] = ({ stdin, signal }) => {
    void stdin!(new PassThrough().resume(), signal!, 'tools')
    return unlessAborted(new Promise<never>(() => {}), signal!)
  }
  Object.assign(t.deps.docker, { execPiped, runPiped })
  const { status: state, files, ...backup } = await scene.backUp()
  const found = files.find(({ file }: { file: string }) => file === 'volumes')
  return { state, volumes: found?.volumes, contents: backup.contents }
}

test('a volume that a server keeps files of its own in isn’t stored, wherever it is mounted', async () => {
  expect(await backedUp('/spaces/fast')).toMatchObject({ state: 'succeeded', volumes: ['certs'] })
  const beside = { state: 'succeeded', volumes: ['certs', 'fast'] }
  expect(await backedUp('/elsewhere')).toMatchObject(beside)
  expect(await backedUp('/')).toMatchObject(beside)
})

test('files of a database are stored for another container only where that can write to them', () => {
  const stored = (mount: string) => {
    const other = `other: { image: busybox, volumes: ["${mount}"] }`
    const file = readCompose(
      withDatabase.replace('volumes: { data', `  ${other}\nvolumes: { data`),
      { file: 'compose.yaml' },
    )
    const components = planContainers(stackOf(file, samplesOf(file)), {
      ...{ id: 'x', name: 'x', publishAddress: '127.0.0.1' },
    })
    return recipeOf({ id: 'x', components, backup: null }).volumes
  }
  expect(stored('data:/backup:ro')).not.toContain('davit-x-data')
  expect(stored('data:/backup')).toContain('davit-x-data')
})
