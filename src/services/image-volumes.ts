import { posix } from 'node:path'
import type { Component } from '../runtime/component.ts'
import { volumeNameOf } from './compose/containers.ts'
import type { Stack } from './compose/model.ts'
import { isOwnName, ownName } from './compose/volume-names.ts'
import type { Pulled } from './image-ports.ts'

/**
 * Adds a named volume for each volume that an image declares and its file doesn't mount, so that the data
 * outlives the container; `volumes_from` shares it. Docker's own volume would be anonymous, and another one
 * for the next container.
 */
export function withImageVolumes<Each extends Pulled>(
  pulled: Each[],
  { id, services }: { id: string; services: Stack['services'] },
): Each[] {
  const made = new Map<string, Volume[]>()
  // In start order, so that shared volumes are known before they are used.
  return pulled.map((component) => {
    const { name, options, image } = component
    const taken = new Set(mountedIn(component))
    const add = (volumes: Volume[]) =>
      volumes.filter(({ path }) => !taken.has(path) && taken.add(path))
    const shared = services
      .get(name)!
      .volumesFrom.flatMap(({ service, readOnly }) =>
        add((made.get(service) ?? []).map((volume) => ({ ...volume, readOnly }))),
      )
    const own = add(
      (image.volumes ?? []).flatMap((declared) => {
        const path = pathOf(declared)
        return path === null ? [] : [{ name: nameFor(id, name, path), path, readOnly: false }]
      }),
    )
    made.set(name, [...shared, ...own])
    return {
      ...component,
      options: { ...options, volumes: [...(options.volumes ?? []), ...shared, ...own] },
    }
  })
}

/** True for one that a component has because its image declares it. */
export const isImageVolume = (
  id: string,
  component: string,
  { name, path }: Pick<Volume, 'name' | 'path'>,
) => name === nameFor(id, component, path)

/** The same without its path, before the image says which ones it declares. */
export const mayBeImageVolume = (service: string, volume: string) =>
  isOwnName(volume, readableOf(service, '/'))

type Volume = Required<NonNullable<Component['options']['volumes']>[number]>

const mountedIn = ({
  options: { volumes = [], tmpfs = [], granted },
}: Pick<Component, 'options'>) =>
  [...volumes, ...tmpfs, ...(granted?.binds ?? [])].map(({ path }) => path)

/** Null for an invalid path, which is left to Docker. */
function pathOf(declared: string) {
  const path = posix.normalize(declared).replace(/(?<=.)\/$/, '')
  return path.startsWith('/') && path !== '/' ? path : null
}

/** Readable, and different from the names of other paths and of the file's own volumes. */
function nameFor(id: string, service: string, path: string) {
  return volumeNameOf(id, ownName(readableOf(service, path), `${service} ${path}`))
}

const readableOf = (service: string, path: string) =>
  `${service}${path}`.replace(/[^a-zA-Z0-9_.-]+/g, '-')
