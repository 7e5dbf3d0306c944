import type { OnServer, RegistryAuth } from '../../docker/index.ts'
import type { RuntimeDeps } from '../deps.ts'

export type DeliveryDeps = Pick<
  RuntimeDeps,
  'db' | 'engines' | 'serverList' | 'secrets' | 'config' | 'instanceId'
>

/** An image of Davit’s own server that another one is about to run. */
export type Delivery = OnServer & {
  image: string
  /** The name of that server. */
  server: string
  workload: { ownerId: string; projectId?: string | undefined }
  log: (text: string) => void
  signal: AbortSignal
}

/** By its digest, under the name that it has here. The login is part of that one call. */
export async function pullThere(
  { engines }: Pick<DeliveryDeps, 'engines'>,
  { image, serverId, workload: { ownerId }, signal }: Delivery,
  { source, ...named }: { source: string; as: string; auth: RegistryAuth | undefined },
) {
  const there = engines.of({ serverId })
  for await (const _ of there.pullImage(source, { ...named, ownerId, signal })) continue
  const pulled = await there.inspectImage(source, { signal })
  if (!pulled) throw new Error(`The image ${source} was removed while it was pulled.`)
  await there.tagImage(pulled.id, image)
  await there.removeImage(source)
}
