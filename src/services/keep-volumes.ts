import type { Db } from '../db/index.ts'
import { listRestoresInto } from '../jobs/after-store.ts'
import type { Secrets } from '../platform/secrets.ts'
import { openComponents } from '../runtime/component.ts'
import type { Component } from '../runtime/component.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { volumeNameOf } from './compose/containers.ts'
import type { Stack } from './compose/model.ts'
import { settleVolumes } from './compose/volume-names.ts'
import type { Mounted } from './compose/volume-names.ts'

type Mounting = { id: string; services: Stack['services'] }

/**
 * What the live version of an instance mounts keeps its volumes, whatever else the file mounts since. One that is made
 * for a backup gets those of the backup.
 */
export function keepVolumes(deps: { db: Db; secrets: Secrets }, mounting: Mounting) {
  settleVolumes(mounting.services.values(), () => {
    const live = getLiveRelease(deps.db, mounting.id)
    const components = openComponents(deps.secrets, live) ?? []
    const [backup] = live ? [] : listRestoresInto(deps.db, mounting.id)
    return backup ? inBackup(backup, mounting) : mountedIn(components, mounting)
  })
}

type Stored = Pick<ReturnType<typeof listRestoresInto>[number], 'files' | 'contents'>

/** The same for an instance that is yet to be made. */
export const keepVolumesOf = (backup: Stored, services: Stack['services']) =>
  settleVolumes(services.values(), () => inBackup(backup, { services }))

function mountedIn(components: Component[], { id }: Mounting): Mounted[] {
  const prefix = volumeNameOf(id, '')
  return components.flatMap(({ name: service, options: { volumes = [] } }) =>
    volumes.map(({ name, path }) => ({ service, path, volume: name.slice(prefix.length) })),
  )
}

/** It has no paths, so each of its volumes may have been at each. Data of a dumped database may not be among them. */
function inBackup(
  { files, contents }: Stored,
  { services }: Pick<Mounting, 'services'>,
): Mounted[] {
  const dumped = new Set(contents?.map(({ component }) => component))
  const places = [...services.values()].flatMap(({ name: service, volumes }) =>
    dumped.has(service) ? [] : volumes.map(({ path }) => ({ service, path })),
  )
  return files.flatMap(({ volumes = [] }) =>
    volumes.flatMap((volume) => places.map((place) => ({ ...place, volume }))),
  )
}
