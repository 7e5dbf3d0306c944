import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { labelFilter, labelsFor } from '../../src/docker/labels.ts'
import { insertProject } from '../../src/projects/store.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { aSession } from '../support/session.ts'

/**
 * The data of a Davit that is started as a process: a user who is logged in, and environments, of a
 * project each, whose containers are made by hand.
 */
export function prepareInstallation(directory: string, { apps = 1 } = {}) {
  const env = {
    DAVIT_DATA_DIR: join(directory, 'data'),
    DAVIT_SECRET_KEY: 'k'.repeat(40),
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const config = parseConfig(env)
  mkdirSync(config.dataDir)
  const db = openDatabase(join(config.dataDir, 'davit.db'))
  const instanceId = openInstallation(db, openSecrets(config))
  const ada = { email: 'ada@example.com', name: null, passwordHash: '', role: 'admin' } as const
  const ownerId = insertUser(db, ada).id
  const cookie = `svc_session=${aSession({ db }, ownerId)}`
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const places = Array.from({ length: apps }, (_, at) => {
    const name = at === 0 ? 'site' : `site-${at}`
    const values = { ownerId, name, repositoryUrl, webhookSecret: 'x' }
    const project = insertProject(db, values, { hostPort: 23_456 + at })
    return { projectId: project.id, environmentId: listEnvironments(db, project.id)[0]!.id }
  })
  db.$client.close()
  const docker = connectDocker({ host: process.env.DOCKER_HOST })

  return {
    env,
    docker,
    environmentId: places[0]!.environmentId,
    cookie,
    /** Runs a shell line, as an app of the first environment, or another one, unless it is someone else's. */
    async run(script: string, { instance = instanceId, app = 0 } = {}) {
      const deploymentId = Bun.randomUUIDv7()
      const of = { ownerId, ...places[app]!, deploymentId }
      const id = await docker.createContainer({
        name: `test-${deploymentId.slice(-12)}`,
        image: 'busybox:latest',
        command: ['sh', '-c', script],
        labels: labelsFor({ instanceId: instance, kind: 'app', ...of }),
        network: 'bridge',
        memoryBytes: 64 * 2 ** 20,
        cpus: 2,
        pidsLimit: 64,
        logs: { maxSize: '10m', maxFiles: 3 },
      })
      await docker.startContainer(id)
      return id
    },
    async removeContainers() {
      const labels = labelFilter(instanceId)
      for (const { id } of await docker.listContainers({ labels, all: true }))
        await docker.removeContainer(id, { force: true })
    },
  }
}
