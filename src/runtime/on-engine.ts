import type { Engines } from '../docker/index.ts'
import { ensureNetwork } from './network.ts'
import type { Runtime } from './runtime.ts'

/** Containers are created by the Docker of their server. */
function onEngine(engines: Engines): Runtime {
  const [own] = engines.all
  return {
    place: async () => own.serverId,
    ensureNetwork: (network) => ensureNetwork({ docker: own, config: network }, network),
    async create({ serverId, endpoints, files, ...options }) {
      const docker = engines.of({ serverId })
      const id = await docker.createContainer(options)
      for (const { network, ...endpoint } of endpoints.slice(1))
        await docker.connectNetwork(network, { containerId: id, ...endpoint })
      if (files.length > 0) await docker.putArchive(id, { path: '/', files })
      return id
    },
    start: (one) => engines.of(one).startContainer(one.id),
    stop: (one, options) => engines.of(one).stopContainer(one.id, options),
    remove: (one) => engines.of(one).removeContainer(one.id, { force: true, volumes: true }),
  }
}

/** What functions of the runtime need of Docker. */
export const onEngines = (engines: Engines) => ({
  engines,
  docker: engines.all[0],
  runtime: onEngine(engines),
})
