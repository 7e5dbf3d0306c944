import { expect } from 'bun:test'
import type { TestClient } from '../../support/client.ts'

/*
 * Others work on this engine. No test may ask for more than its own: either items are named, or it is
 * left to the labels of this test's installation, and never for the build cache.
 */

/** What a clean-up of these kinds would remove, may remove and keeps. */
export const preview = async (client: TestClient, what: string[]) => {
  const { status, json } = await client.post('/settings/prune', { what, dryRun: true })
  expect(status).toBe(200)
  return json as Preview
}

export type Entry = {
  kind: string
  id: string
  name: string
  bytes: number
  item: string
  reason: string
}
type Preview = {
  removed: Entry[]
  bytes: number
  candidates: (Entry & { owner: string; byDefault: boolean })[]
  kept: (Entry & { owner: string })[]
}

/** Of these things the one with that id. */
export const of = (things: Entry[], id: string) => things.find((thing) => thing.id === id)

let before = Date.parse('2026-01-01')

/** What a deployment that another took the place of has, each a little younger than the one before. */
export const earlier = () => ({
  id: Bun.randomUUIDv7('hex', new Date(++before)),
  status: 'superseded' as const,
  containerId: null,
})
