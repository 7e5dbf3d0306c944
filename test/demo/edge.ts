import { connectDocker } from '../../src/docker/index.ts'
import { caddyImage } from '../support/images/edge.ts'
import { freePort } from '../support/free-port.ts'
import { ensureImage } from '../support/machine.ts'
import { removeEdge } from '../support/remove-from-engine.ts'

/**
 * What Davit needs to run a Caddy of the demo's, on free ports and under names that browsers have on this
 * machine by themselves; null where there is none. It outlives Davit, and is removed after it.
 */
export async function setEdge(dataDir: string) {
  if (!(await ensureImage(caddyImage, { seconds: 30 }))) return null
  return {
    settings: {
      DAVIT_EDGE: 'auto',
      DAVIT_DOMAIN: 'davit.localhost',
      DAVIT_EDGE_PORTS: `${freePort()},${freePort()}`,
    },
    remove: () => removeEdge(connectDocker({ host: process.env.DOCKER_HOST }), dataDir),
  }
}
