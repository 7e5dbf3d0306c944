import type { Abortable, Engine } from './engine.ts'
import { orNull, unlessMissing } from './refusals.ts'

export type Volume = Awaited<ReturnType<typeof listVolumes>>[number]

type Listed = { Name: string; Labels: Record<string, string> | null }

/** An existing volume is left unchanged. */
export const createVolume = (
  engine: Engine,
  { name, labels = {}, signal }: { name: string; labels?: Record<string, string> } & Abortable,
) =>
  engine.request('POST', '/volumes/create', {
    body: { Name: name, Driver: 'local', Labels: labels },
    signal,
  })

export async function listVolumes(
  engine: Engine,
  { labels = [], signal }: { labels?: string[] } & Abortable = {},
) {
  const query = { filters: { label: labels } }
  const found = await engine.request<{ Volumes: Listed[] | null }>('GET', '/volumes', {
    query,
    signal,
  })
  return (found.Volumes ?? []).map(({ Name, Labels }) => ({ name: Name, labels: Labels ?? {} }))
}

/** Returns false when it didn't exist. One that a container uses is refused with status 409. */
export const removeVolume = (engine: Engine, name: string, { signal }: Abortable = {}) =>
  unlessMissing(engine.request('DELETE', `/volumes/${encodeURIComponent(name)}`, { signal }))

/** The folder of a local volume on the engine's machine; null when there is no such volume. */
export async function volumeFolder(engine: Engine, name: string, { signal }: Abortable = {}) {
  const path = `/volumes/${encodeURIComponent(name)}`
  const found = await orNull(engine.request<{ Mountpoint: string }>('GET', path, { signal }))
  return found?.Mountpoint ?? null
}
