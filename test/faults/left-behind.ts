import { readdirSync } from 'node:fs'
import type { Installation } from '../support/installation.ts'

type Row = { id: string; status: string; image: string | null }
type Process = { release_id: string; container_id: string | null; component: string; slot: number }

/** What is not as the database says: one sentence for each fault, none when all is well. */
export async function faultsOf(davit: Installation): Promise<string[]> {
  const labels = davit.labels()
  const [containers, images, networks] = await Promise.all([
    davit.docker.listContainers({ labels, all: true }),
    davit.docker.listImages({ labels }),
    davit.docker.listNetworks({ labels }),
  ])
  const deployments = davit.rows<Row>('SELECT * FROM deployments')
  const processes = davit.rows<Process>("SELECT * FROM instances WHERE state <> 'removed'")
  const processesOf = ({ id }: Row) => processes.filter(({ release_id }) => release_id === id)
  const logs = davit.rows<{ id: string }>(
    `SELECT iif(log_id = '', source_id, log_id) id FROM output_blocks
     UNION SELECT source_id FROM output_cursors`,
    [],
    'logs.db',
  )
  const writers = davit.rows<{ id: string }>(
    'SELECT id FROM deployments UNION SELECT id FROM environments UNION SELECT id FROM services',
  )
  const projects = davit.rows<{ id: string }>('SELECT id FROM projects').map(({ id }) => id)
  const going = davit.rows<{ name: string }>(
    `SELECT name FROM projects WHERE deleting_at IS NOT NULL
     UNION ALL SELECT name FROM environments WHERE deleting_at IS NOT NULL`,
  )
  const serving = deployments.filter(({ status }) => ['running', 'stopped'].includes(status))
  const running = serving.filter(({ status }) => status === 'running')
  const isUp = (id: string | null) =>
    containers.some((container) => container.id === id && container.state === 'running')
  const places = containers
    .filter(({ state }) => state === 'running')
    .map(({ id, labels }) => {
      const { component, slot } = processes.find(({ container_id }) => container_id === id) ?? {}
      return `${component} ${slot} of environment ${labels['davit.environment']}`
    })

  return [
    ...deployments
      .filter(({ status }) => ['pending', 'cloning', 'building', 'deploying'].includes(status))
      .map(({ id, status }) => `deployment ${id} is still ${status}`),
    ...davit
      .rows<{ kind: string; status: string }>('SELECT * FROM jobs')
      .map(({ kind, status }) => `a job (${kind}) is still ${status}`),
    ...going.map(({ name }) => `${name} is still being deleted`),
    ...containers
      .filter(({ id }) => !serving.flatMap(processesOf).some((own) => own.container_id === id))
      .map(({ name, state }) => `container ${name} (${state}) has no owner`),
    ...running
      .filter((row) => processesOf(row).length === 0)
      .map(({ id }) => `deployment ${id} is running, and has no process`),
    ...running
      .flatMap(processesOf)
      .filter(({ container_id }) => !isUp(container_id))
      .map((own) => `deployment ${own.release_id} is running, its ${own.component} is not`),
    ...places
      .filter((place, at) => places.indexOf(place) !== at)
      .map((place) => `process ${place} runs in two containers`),
    ...images
      .flatMap(({ id, tags }) => (tags.length > 0 ? tags : [id]))
      .filter((tag) => !deployments.some(({ image }) => image === tag))
      .map((tag) => `image ${tag} has no owner`),
    ...networks
      .filter(({ name }) => !projects.some((id) => name === `davit-${id}`))
      .map(({ name }) => `network ${name} has no owner`),
    ...logs
      .filter(({ id }) => !writers.some((writer) => writer.id === id))
      .map(({ id }) => `the log of ${id} has no owner`),
    ...filesLeft(davit).map((file) => `file ${file} was left`),
    ...davit.errors().map((line) => `Davit says: ${line.slice(0, 2000)}`),
  ]
}

/** Files that git or a deployment works with and that are to be gone with the work. */
function filesLeft({ dataDir }: Installation) {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path !== 'davit.lock' && /davit-index-|\.lock$|tmp_(pack|idx|obj)|\/keys\/./.test(path),
  )
}
