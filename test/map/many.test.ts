import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { readGraph } from '../../src/map/graph.ts'
import { layOut } from '../../src/map/layout.ts'
import type { Box } from '../../src/map/layout.ts'
import { partOf } from '../../src/map/part.ts'
import { testApp, withAda } from '../support/app.ts'
import { anApp, aService, servedByCaddy } from './owned.ts'

/** 100 projects with two domains each, some of which share their services. */
async function many() {
  const { t, ada } = withAda(testApp())
  const services = Array.from({ length: 30 }, (_, at) => aService(t, ada, { name: `store ${at}` }))
  for (let at = 0; at < 100; at++)
    await anApp(t, ada, {
      name: `project ${at}`,
      hosts: [`app-${at}.example.com`, `www.app-${at}.example.com`],
      uses: [...new Set([services[at % 25]!, services[(at * 7) % 25]!])],
      ...(at === 77 && { processes: { web: ['stopped'], worker: ['live'] } }),
    })
  servedByCaddy(t)
  return { t, ada, services }
}

test('100 projects come in pages of at most 15 KB that show everything, trouble first', async () => {
  const { ada, services } = await many()
  const seen = new Set<string>()
  let [path, pages] = ['/map', 0]
  for (let isMore = true; isMore; pages++) {
    const { text } = await ada.page(path)
    expect(gzipSync(text).length).toBeLessThan(15 * 1024)
    const shown = [...text.matchAll(/class="map-node" [^>]*href="\/map\?focus=([^"]+)"/g)]
    for (const [, id] of shown) seen.add(id!)
    const drawn = text.slice(text.indexOf('<svg viewBox'))
    if (pages === 0) expect(drawn.indexOf('project 77')).toBeLessThan(drawn.indexOf('project 1⁩'))
    const next = /<a [^>]*href="(\/map\?[^"]*from=\d+)"[^>]*>\s*Show more/.exec(text)
    isMore = next !== null
    path = next?.[1]?.replaceAll('&amp;', '&') ?? ''
  }
  expect(pages).toBeGreaterThan(2)
  const { nodes } = (await ada.get('/map')).json
  expect(seen.size).toBe(nodes.length)
  expect(nodes).toHaveLength(100 + 200 + services.length)
  // what the chosen node reaches is on the first page, wherever it would be else
  const { text } = await ada.page(`/map?focus=${services[7]}`)
  expect(text).toMatch(/data-mark="chosen"/)
  expect(text.match(/class="map-node"[^>]*data-mark="dependent"/g)!.length).toBeGreaterThan(8)
})

test('boxes don’t overlap, and services stand in the order of those that use them', async () => {
  const { t, ada } = await many()
  const graph = readGraph(t.deps, ada.user.id)
  for (const from of [0, 20, 40]) {
    const part = partOf(graph, { from })
    const { bands, rest, lines, width, height } = layOut(part)
    const boxes = [...bands.flatMap((band) => band.boxes), ...rest]
    const overlap = (a: Box, b: Box) =>
      a !== b && a.x === b.x && a.y < b.y + b.height && b.y < a.y + a.height
    expect(boxes.filter((a) => boxes.some((b) => overlap(a, b)))).toEqual([])
    expect(boxes.filter((box) => box.x + box.width > width || box.y + box.height > height)).toEqual(
      [],
    )
    const mean = (id: string) => {
      const own = lines.filter(({ to }) => to.node.id === id).map((line) => line.from.y)
      return own.reduce((sum, y) => sum + y, 0) / own.length
    }
    const heights = boxes
      .filter(({ node }) => node.kind === 'service')
      .toSorted((a, b) => a.y - b.y)
      .map(({ node }) => mean(node.id))
      .filter((y) => !Number.isNaN(y))
    expect(heights.length).toBeGreaterThan(3)
    expect(heights).toEqual(heights.toSorted((a, b) => a - b))
  }
})
