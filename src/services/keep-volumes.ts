import type { Db } from '../db/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import { openComponents } from '../runtime/component.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { volumeNameOf } from './compose/containers.ts'
import type { Stack } from './compose/model.ts'
import { settleVolumes } from './compose/volume-names.ts'

/** What the live version of an instance mounts keeps its volumes, whatever else the file mounts since. */
export function keepVolumes(
  { db, secrets }: { db: Db; secrets: Secrets },
  { id, services }: { id: string; services: Stack['services'] },
) {
  const prefix = volumeNameOf(id, '')
  settleVolumes(services.values(), () => {
    const live = openComponents(secrets, getLiveRelease(db, id)) ?? []
    return live.flatMap(({ name: service, options: { volumes = [] } }) =>
      volumes.map(({ name, path }) => ({ service, path, volume: name.slice(prefix.length) })),
    )
  })
}
