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
  let known: Set<string> | undefined
  settleVolumes(services.values(), ({ volume, path }) => {
    known ??= mounted()
    return known.has(`${volumeNameOf(id, volume)}:${path}`)
  })

  function mounted() {
    const live = openComponents(secrets, getLiveRelease(db, id)) ?? []
    const all = live.flatMap(({ options }) => options.volumes ?? [])
    return new Set(all.map(({ name, path }) => `${name}:${path}`))
  }
}
