import { backUps } from './back-up.ts'
import { compose } from './compose.ts'
import { freezing } from './freeze.ts'
import type { Order } from './order.ts'
import type { Random } from './random.ts'
import { world } from './world.ts'

export type Action = {
  name: string
  /** How often it is chosen, against the others. */
  weight: number
  run: (order: Order, chance: Random) => Promise<unknown>
}

type Row = { id: string; project_id: string; environment_id: string; status: string }

const rowsOf = (order: Order, sql: string) => order.installation.rows<Row>(sql)

/** With one of the rows that the query finds; nothing when there is none. */
const withOne =
  (sql: string, work: (order: Order, row: Row, chance: Random) => Promise<unknown>) =>
  async (order: Order, chance: Random) => {
    const rows = rowsOf(order, sql)
    if (rows.length > 0) await work(order, chance.pick(rows), chance)
  }

const environments = 'SELECT id, project_id FROM environments ORDER BY id'
const services = 'SELECT id FROM services ORDER BY id'
const unended =
  "SELECT id, project_id FROM deployments WHERE status IN ('pending', 'cloning', 'building', 'deploying') ORDER BY id"

/** What users do, and what befalls the engine and Davit. */
export const actions: Record<string, Action> = {
  ...backUps,
  ...freezing,
  deploy: {
    name: 'deploy',
    weight: 10,
    run: withOne(environments, (order, { id, project_id }) =>
      order.request('POST', `/projects/${project_id}/deployments`, { environmentId: id }),
    ),
  },
  apply: {
    name: 'apply changes',
    weight: 3,
    run: withOne(environments, (order, { id, project_id }) =>
      order.request('POST', `/projects/${project_id}/deployments`, {
        environmentId: id,
        reuseImage: true,
      }),
    ),
  },
  startApp: {
    name: 'start an environment',
    weight: 3,
    run: withOne(environments, (order, { id }) => order.request('POST', `/envs/${id}/start`)),
  },
  restartApp: {
    name: 'restart an environment',
    weight: 3,
    run: withOne(environments, (order, { id }) => order.request('POST', `/envs/${id}/restart`)),
  },
  stopApp: {
    name: 'stop an environment',
    weight: 3,
    run: withOne(environments, (order, { id }) => {
      order.touchAll('davit.environment', id)
      return order.request('POST', `/envs/${id}/stop`)
    }),
  },
  cancel: {
    name: 'cancel a deployment',
    weight: 5,
    run: withOne(unended, (order, { id, project_id }) =>
      order.request('POST', `/projects/${project_id}/deployments/${id}/cancel`),
    ),
  },
  rollBack: {
    name: 'roll back',
    weight: 5,
    run: withOne(
      'SELECT id, project_id FROM deployments WHERE image IS NOT NULL ORDER BY id',
      (order, { id, project_id }) =>
        order.request('POST', `/projects/${project_id}/deployments/${id}/rollback`),
    ),
  },
  promoteAutomatically: {
    name: 'promote from the first environment',
    weight: 0, // of stories alone, like runCommand
    run: (order) => {
      const [first, second] = rowsOf(order, environments)
      if (!second) return Promise.resolve()
      return order.request('PUT', `/projects/${first!.project_id}/envs/${second!.id}`, {
        promoteFrom: first!.id,
        promoteAutomatically: true,
      })
    },
  },
  deployFirst: {
    name: 'deploy the first environment',
    weight: 0,
    run: (order) => {
      const { id, project_id } = rowsOf(order, environments)[0]!
      return order.request('POST', `/projects/${project_id}/deployments`, { environmentId: id })
    },
  },
  deleteEnvironment: {
    name: 'delete an environment',
    weight: 2,
    run: withOne(environments, (order, { id, project_id }) =>
      order.request('DELETE', `/projects/${project_id}/envs/${id}`),
    ),
  },
  addEnvironment: {
    name: 'add an environment',
    weight: 1,
    run: withOne('SELECT id FROM projects', (order, { id }, chance) =>
      order.request('POST', `/projects/${id}/envs`, { name: `more-${chance.below(1000)}` }),
    ),
  },
  deleteProject: {
    name: 'delete the project',
    weight: 2,
    run: withOne('SELECT id FROM projects', (order, { id }, chance) =>
      order.request('DELETE', `/projects/${id}`, { volumes: chance.chance(0.5) }),
    ),
  },
  setVariable: {
    name: 'set a variable',
    weight: 2,
    run: withOne(environments, (order, { id }, chance) =>
      order.request('POST', `/envs/${id}/variables`, {
        key: `KEY_${chance.below(100)}`,
        value: 'x',
      }),
    ),
  },
  changeSettings: {
    name: 'change settings',
    weight: 3,
    run: withOne(environments, (order, { id, project_id }, chance) =>
      order.request(
        'PUT',
        `/projects/${project_id}/envs/${id}`,
        chance.pick([
          { port: 0 },
          { port: 8080 },
          { volumes: ['data:/data'] },
          { volumes: [] },
          { memoryMb: 64 },
        ]),
      ),
    ),
  },

  makeService: {
    name: 'make a service',
    weight: 3,
    run: (order, chance) =>
      order.request('POST', '/services/compose', {
        name: `thing ${chance.below(1_000_000)}`,
        compose: compose(chance),
      }),
  },
  changeService: {
    name: 'change a service',
    weight: 4,
    run: withOne(services, (order, { id }, chance) =>
      order.request('PUT', `/services/${id}`, { compose: compose(chance) }),
    ),
  },
  restartService: {
    name: 'restart a service',
    weight: 3,
    run: withOne(services, (order, { id }) => order.request('POST', `/services/${id}/restart`)),
  },
  stopService: {
    name: 'stop a service',
    weight: 2,
    run: withOne(services, (order, { id }) => {
      order.touchAll('davit.service', id)
      return order.request('POST', `/services/${id}/stop`)
    }),
  },
  cancelService: {
    name: 'cancel work on a service',
    weight: 2,
    run: withOne(services, (order, { id }) => order.request('POST', `/services/${id}/cancel`)),
  },
  deleteService: {
    name: 'delete a service',
    weight: 2,
    run: withOne(services, (order, { id }, chance) =>
      order.request('DELETE', `/services/${id}`, { volumes: chance.chance(0.5) }),
    ),
  },

  runCommand: {
    name: 'run a command',
    weight: 0, // of stories alone: the kept seeds would come to other orders
    run: withOne(environments, (order, { id }, chance) => {
      const command = chance.pick([['sleep', '1'], ['false']])
      return order.request('POST', `/envs/${id}/runs`, { command })
    }),
  },
  cleanUp: {
    name: 'clean up',
    weight: 3,
    run: (order) =>
      order.request('POST', '/settings/prune', {
        what: ['containers', 'images', 'networks', 'volumes', 'build_cache'],
      }),
  },

  stopContainer: {
    name: 'stop a container on its page',
    weight: 3,
    run: (order, chance) => actOnContainer(order, chance, 'stop'),
  },
  restartContainer: {
    name: 'restart a container on its page',
    weight: 2,
    run: (order, chance) => actOnContainer(order, chance, 'restart'),
  },
  touch: {
    name: 'stop, kill, start or remove a container by hand',
    weight: 4,
    async run(order, chance) {
      const { engine } = order.installation
      const [id] = pickContainer(order, chance)
      if (!id) return
      order.touched.add(id)
      const how = chance.pick(['stop', 'kill', 'start', 'remove'] as const)
      order.schedule.say(`by hand: ${how} ${engine.container(id).name}`)
      try {
        if (how === 'remove') engine.remove(id, { force: true })
        else engine[how](id)
      } catch (error) {
        order.schedule.say(`by hand: ${(error as Error).message}`)
      }
    },
  },

  kill: {
    name: 'kill Davit',
    weight: 5,
    async run({ installation, schedule }) {
      await installation.kill()
      schedule.say('Davit was killed and started')
    },
  },
  restart: {
    name: 'restart Davit',
    weight: 2,
    async run(order) {
      let isDone = false
      void order.installation.restart().then(() => (isDone = true))
      for (let i = 0; !isDone && i < 2000; i++)
        if (!(await order.step(Infinity))) await world.settle()
      if (!isDone) order.stuck = ['Davit does not stop.']
    },
  },
  outage: {
    name: 'the engine goes away or comes back',
    weight: 2,
    async run({ schedule, installation }) {
      schedule.isAway = !schedule.isAway
      schedule.faults.breaks++
      if (schedule.isAway) installation.breakConnections()
    },
  },
  reboot: {
    name: 'restart the engine',
    weight: 1,
    async run(order) {
      const { engine } = order.installation
      for (const id of engine.containers.keys()) order.touched.add(id)
      order.schedule.faults.breaks++
      engine.reboot()
      order.installation.breakConnections()
    },
  },
}

function pickContainer({ installation }: Order, chance: Random) {
  const ids = [...installation.engine.containers.keys()]
  return ids.length > 0 ? [chance.pick(ids)] : []
}

async function actOnContainer(order: Order, chance: Random, verb: 'stop' | 'restart') {
  const [id] = pickContainer(order, chance)
  if (!id) return
  order.touched.add(id)
  await order.request('POST', `/containers/${id}/${verb}`)
}
