import { expect, test } from 'bun:test'
import { openTemplate } from '../../src/services/compose/open.ts'
import { outlineOf } from '../../src/services/outline.ts'
import { origin } from './compose/filled.ts'

const outline = (web: string) =>
  outlineOf(openTemplate(`services: {web: {image: a, ${web}}}`, origin, { name: 'x' }))

test('an outline is reported before values are given, of whatever kind they must be', () => {
  const { ports, dangers, volumes } = outline(
    'ports: ["$PORT:25565"], mem_limit: "${MEMORY:?}", cap_add: [SYS_ADMIN], volumes: [/data]',
  )
  expect(ports).toMatchObject([{ target: 'web', containerPort: 25565, host: null }])
  expect(dangers.map(({ key }) => key)).toEqual(['web capability SYS_ADMIN'])
  expect(volumes).toEqual(['web-data'])
})

test('an outline of a file that no value helps is empty', () => {
  expect(outline('restart: "$RESTART-x", cap_add: [SYS_ADMIN]').dangers).toEqual([])
})
