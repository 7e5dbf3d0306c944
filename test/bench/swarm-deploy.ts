import { join } from 'node:path'
import { onThreeServers } from '../engines/three-servers.ts'
import type { Row } from './ratio.ts'

/** A version of an app that runs on two other servers, from its commit until both run it; three real engines. */
export async function benchSwarmDeploy(directory: string): Promise<Row> {
  const figures = join(directory, 'swarm-deploy.json')
  await onThreeServers('./test/bench/swarm-deploy-scene.ts', { FIGURES: figures })
  return {
    what: 'deploy to two other servers, with visitors',
    against: 'clone, build, copy to both, `docker service update` without its watch',
    unit: 's',
    aim: '≤ 1.3',
    ...((await Bun.file(figures).json()) as Pick<Row, 'davit' | 'floor'>),
  }
}
