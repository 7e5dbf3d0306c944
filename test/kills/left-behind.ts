import { readdirSync } from 'node:fs'
import { deployedImage } from '../../src/runtime/images/stack-store.ts'
import type { Installation } from '../support/installation.ts'

type Deployment = { id: string; status: string; image: string | null }
type Instance = {
  workload_id: string
  release_id: string
  container_id: string | null
  component: string
  slot: number
  state: string
}
type Log = { source: string; log: string }

/** What is not as the database says: one line for each fault, none when all is well. */
export async function faultsOf(davit: Installation): Promise<string[]> {
  const labels = davit.labels()
  const [all, images, networks, volumes] = await Promise.all([
    davit.docker.listContainers({ labels, all: true }),
    davit.docker.listImages({ labels }),
    davit.docker.listNetworks({ labels }),
    davit.docker.listVolumes({ labels }),
  ])
  const containers = all.filter(({ labels }) => labels['davit.kind'] !== 'edge')
  const idsOf = (sql: string) => davit.rows<{ id: string }>(sql).map(({ id }) => id)
  const deployments = davit.rows<Deployment>('SELECT id, status, image FROM deployments')
  const instances = davit.rows<Instance>("SELECT * FROM instances WHERE state <> 'removed'")
  const live = idsOf('SELECT live_release_id AS id FROM workloads')
  const workloads = idsOf('SELECT id FROM environments UNION SELECT id FROM services')
  const writers = [...workloads, ...idsOf('SELECT id FROM deployments UNION SELECT id FROM runs')]
  const groups = idsOf('SELECT id FROM projects UNION SELECT id FROM services')
  const services = idsOf('SELECT id FROM services')
  const logs = davit.rows<Log>(
    `SELECT source_id AS source, log_id AS log FROM output_blocks
     UNION SELECT source_id, '' FROM output_cursors`,
    [],
    'logs.db',
  )
  const runs = (id: string | null) =>
    containers.some((container) => container.id === id && container.state === 'running')
  const name = ({ component, slot, workload_id }: Instance) =>
    `${component} ${slot} of ${workload_id}`
  const up = instances.filter(({ container_id }) => runs(container_id)).map(name)

  return [
    ...davit
      .rows<{ what: string }>(unsettled)
      .map(({ what }) => `${what}, and nothing works on it`),
    ...containers
      .filter(({ id }) => !instances.some((own) => own.container_id === id))
      .map(({ name, state }) => `container ${name} (${state}) has no owner`),
    ...instances
      .filter(({ release_id, state }) => state !== 'standby' && !live.includes(release_id))
      .map((own) => `${name(own)} is not of the live release`),
    ...instances
      .filter((own) => !['live', 'stopped', 'standby'].includes(own.state))
      .map((own) => `${name(own)} is ${own.state}`),
    ...instances
      .filter((own) => runs(own.container_id) !== (own.state === 'live'))
      .map((own) => `${name(own)} is ${own.state}, and its container is not`),
    ...up.filter((one, at) => up.indexOf(one) !== at).map((one) => `${one} runs in two containers`),
    ...deployments
      .filter(({ id, status }) => status === 'running' && !live.includes(id))
      .map(({ id }) => `deployment ${id} is running, and not live`),
    ...images
      .flatMap(({ id, tags }) => (tags.length > 0 ? tags : [id]))
      .filter((tag) => !deployments.some(({ image }) => image === deployedImage(tag)))
      .map((tag) => `image ${tag} has no owner`),
    ...networks
      .filter((network) => ![...groups, ...workloads].some((id) => network.name === `davit-${id}`))
      .map((network) => `network ${network.name} has no owner`),
    ...volumes
      .filter(({ name }) => name !== `davit-${davit.instanceId}-edge`)
      .filter((volume) => !workloads.some((id) => volume.name.startsWith(`davit-${id}-`)))
      .map((volume) => `volume ${volume.name} has no owner`),
    ...logs
      .filter(
        ({ source, log }) => !writers.includes(services.includes(source) ? source : log || source),
      )
      .map(({ source, log }) => `the log ${log} of ${source} has no owner`),
    ...filesLeft(davit, workloads).map((file) => `file ${file} was left`),
    ...davit.errors().map((line) => `Davit says: ${line.slice(0, 2000)}`),
  ]
}

/** All that some work must bring to an end. */
const unsettled = `
  SELECT 'deployment ' || id || ' is ' || status AS what FROM deployments
    WHERE status NOT IN ('running', 'stopped', 'failed', 'cancelled', 'superseded')
  UNION ALL SELECT 'run ' || id || ' is ' || status FROM runs WHERE finished_at IS NULL
  UNION ALL SELECT 'service ' || id || ' is ' || status FROM services
    WHERE status IN ('pulling', 'creating', 'starting')
  UNION ALL SELECT 'a job (' || kind || ') is ' || status FROM jobs
  UNION ALL SELECT 'a release of ' || id || ' is rolled out' FROM workloads
    WHERE next_release_id IS NOT NULL
  UNION ALL SELECT name || ' is deleted' FROM projects WHERE deleting_at IS NOT NULL
  UNION ALL SELECT name || ' is deleted' FROM environments WHERE deleting_at IS NOT NULL
  UNION ALL SELECT name || ' is deleted' FROM services WHERE deleting_at IS NOT NULL`

/** Files that git, a deployment or the edge works with and that are to be gone with the work. */
function filesLeft({ dataDir }: Installation, workloads: string[]) {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((path) => {
    if (path === 'davit.lock') return false
    const [, key] = /^edge\/slots\/([0-9a-f-]{36})$/.exec(path) ?? []
    if (key) return !workloads.includes(key)
    return /davit-index-|\.lock$|tmp_(pack|idx|obj)|\/keys\/./.test(path)
  })
}
