import { expect, test } from 'bun:test'
import { clipped, isolated } from '../../src/map/text.ts'
import { testApp, withAda } from '../support/app.ts'
import { anApp, aService } from './owned.ts'

const markup = '</title></svg><script>alert(1)</script>"\'>'

test('a name runs nothing, ends nothing, and turns nothing round', async () => {
  const { t, ada } = withAda(testApp())
  const turning = 'מכולת \u202Eabc\u2069'
  const db = aService(t, ada, { name: markup, template: 'redis' })
  const shop = await anApp(t, ada, { name: markup, uses: [db] })
  await anApp(t, ada, { name: turning, uses: [db] })
  for (const path of ['/map', `/map?focus=${db}`, `/map?project=${shop.projectId}`]) {
    const { status, text } = await ada.page(path)
    expect(status).toBe(200)
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('</title></svg>')
    expect(text).not.toMatch(/style=/)
  }
  const { text } = await ada.page('/map')
  const labels = [...text.matchAll(/<title>([^<]*)<\/title>/g)].map(([, label]) => label)
  expect(labels).toContain(
    '\u2068מכולת abc\u2069 / \u2068production\u2069, Running, 1 of 1 container',
  )
})

test('a name is clipped by the room that it takes, between characters as people see them', () => {
  expect(clipped('production', 20)).toBe('production')
  expect(clipped('production', 4)).toBe('prod…')
  expect(clipped('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 4)).toBe('👩‍👩‍👧‍👦👩‍👩‍👧‍👦…')
  expect(clipped('漢字漢字', 4)).toBe('漢字…')
  expect(clipped('WWWWWWWW', 5).length).toBeLessThan(5)
  expect(isolated('a\u202Eb\u2066')).toBe('\u2068ab\u2069')
})
