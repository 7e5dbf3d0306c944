import type { Placement } from '../../src/db/schema.ts'
import { otherEngine } from '../support/other-engine.ts'
import { storeServers } from '../support/servers.ts'
import { aComponent, aWorkload } from './workload.ts'

const image = 'davit/site:one'

/** Two servers whose overlays are the same network, and an image that only the first one has. */
export async function twoServers() {
  const { engine, docker } = otherEngine()
  let copies = 0
  const { loadImage } = docker
  docker.loadImage = (...args) => {
    copies++
    return loadImage(...args)
  }
  const s = await aWorkload({ isSimulated: true, otherEngines: [docker] })
  storeServers(s.db, [{}, {}])
  for (const [id, network] of engine.networks) s.engine.networks.set(id, network)
  Object.assign(engine, { networks: s.engine.networks })
  s.engine.addImage({ tags: [image], command: ['sleep', '99'] })
  const web = (version: string, replicas = 1) => {
    const made = aComponent(version, { replicas })
    return [{ ...made, options: { ...made.options, image } }]
  }
  const place = (placement: Placement | null) => Object.assign(s.workload, { placement })
  return { ...s, otherDocker: docker, other: engine, copies: () => copies, web, place }
}
