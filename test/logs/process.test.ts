import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { parseConfig } from '../../src/config.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { listOutput } from '../../src/logs/read-output.ts'
import { labelFilter, labelsFor } from '../../src/projects/labels.ts'
import { insertProject } from '../../src/projects/store.ts'
import { openSecrets } from '../../src/secrets.ts'
import { startDavit } from '../support/davit.ts'

/** A data directory with one environment, for a Davit of its own. */
function anInstallation() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-output-'))
  const env = { DAVIT_DATA_DIR: join(directory, 'data'), DAVIT_SECRET_KEY: 'k'.repeat(40) }
  const config = parseConfig(env)
  mkdirSync(config.dataDir)
  const db = openDatabase(join(config.dataDir, 'davit.db'))
  const instanceId = openInstallation(db, openSecrets(config))
  const ada = { email: 'ada@example.com', name: null, passwordHash: '', role: 'admin' } as const
  const ownerId = insertUser(db, ada).id
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const project = insertProject(
    db,
    { ownerId, name: 'site', repositoryUrl, webhookSecret: 'x' },
    { hostPort: 23_456 },
  )
  const environmentId = listEnvironments(db, project.id)[0]!.id
  db.$client.close()
  const logDb = openLogDatabase(join(config.dataDir, 'logs.db'))
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  onTestFinished(async () => {
    const labels = labelFilter(instanceId)
    for (const { id } of await docker.listContainers({ labels, all: true }))
      await docker.removeContainer(id, { force: true })
    logDb.$client.close()
    rmSync(directory, { recursive: true, force: true })
  })

  return {
    docker,
    async start() {
      const davit = await startDavit({ directory, env })
      onTestFinished(async () => void (await davit.stop()))
      return davit
    },
    async run(script: string) {
      const deploymentId = Bun.randomUUIDv7()
      const of = { ownerId, projectId: project.id, environmentId, deploymentId }
      const id = await docker.createContainer({
        name: `test-${deploymentId.slice(-12)}`,
        image: 'busybox:latest',
        command: ['sh', '-c', script],
        labels: labelsFor({ instanceId, kind: 'app', ...of }),
        network: 'bridge',
        memoryBytes: 64 * 2 ** 20,
        cpus: 2,
        pidsLimit: 64,
        logs: { maxSize: '10m', maxFiles: 3 },
      })
      await docker.startContainer(id)
      return id
    },
    lines: () => listOutput(logDb, { sourceId: environmentId, after: 0, limit: 1_000_000 }),
    /** Resolves when the last line that is kept is looked for. */
    async untilLast(isLast: (text: string) => boolean) {
      const end = performance.now() + 30_000
      while (!isLast(this.lines().at(-1)?.text ?? '')) {
        if (performance.now() > end)
          throw new Error(`It did not come; the last is: ${this.lines().at(-1)?.text}`)
        await Bun.sleep(50)
      }
    },
  }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at))

test('an app goes on while Davit is stopped, and what it wrote meanwhile is there afterwards', async () => {
  const here = anInstallation()
  const davit = await here.start()
  const id = await here.run('echo ready; sleep 2; seq 1 100000; sleep 1')
  await here.untilLast((text) => text === 'ready')
  process.kill(davit.pid, 'SIGSTOP')
  try {
    const started = performance.now()
    await here.docker.waitForExit(id)
    expect(performance.now() - started).toBeLessThan(15_000)
    expect(here.lines().map(({ text }) => text)).not.toContain('1')
  } finally {
    process.kill(davit.pid, 'SIGCONT')
  }
  await here.untilLast((text) => text.includes('ended: exit code 0'))
  const written = here.lines().filter(({ stream }) => stream !== 'system')
  expect(written.map(({ text }) => text)).toEqual(['ready', ...numbers(1, 100_000)])
})

test('nothing is lost or doubled when Davit is killed again and again', async () => {
  const here = anInstallation()
  const script =
    'n=0; while [ $n -lt 60 ]; do seq $((n * 1000 + 1)) $((n * 1000 + 1000)); n=$((n + 1)); sleep 0.2; done'
  let davit = await here.start()
  const id = await here.run(script)
  let over = false
  const end = here.docker.waitForExit(id).then(() => (over = true))
  for (let kills = 0; !over || kills < 3; kills++) {
    await Bun.sleep(700 + Math.random() * 900) // whatever it is at then
    process.kill(davit.pid, 'SIGKILL')
    await davit.exited
    davit = await here.start()
  }
  await end
  await here.untilLast((text) => text.includes('ended: exit code 0'))
  const lines = here.lines()
  expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, at) => at + 1))
  const written = lines.filter(({ stream }) => stream !== 'system')
  expect(written.map(({ text }) => text)).toEqual(numbers(1, 60_000))
  expect(lines.length - written.length).toBe(2)
})
