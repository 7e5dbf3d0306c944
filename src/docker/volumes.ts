import type { Abortable, Engine } from './engine.ts'
import { unlessMissing } from './refusals.ts'

export type Volume = Awaited<ReturnType<typeof listVolumes>>[number]

type Listed = { Name: string; Labels: Record<string, string> | null }

/** Makes a local volume; one of that name already there is left as it is. */
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

/** False when it was not there. One that a container uses is refused with status 409. */
export const removeVolume = (engine: Engine, name: string, { signal }: Abortable = {}) =>
  unlessMissing(engine.request('DELETE', `/volumes/${encodeURIComponent(name)}`, { signal }))
