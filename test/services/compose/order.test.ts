import { expect, test } from 'bun:test'
import { startOrder } from '../../../src/services/compose/order.ts'
import { refusalOf } from './refusal.ts'
import { stackFrom } from './stack.ts'

const file = (services: Record<string, string>) =>
  stackFrom(
    `services:\n${Object.entries(services)
      .map(([name, dependsOn]) => `  ${name}: {image: a, depends_on: ${dependsOn}}\n`)
      .join('')}`,
  )
const names = (services: Record<string, string>) =>
  startOrder(file(services)).map(({ service }) => service)

test('each service comes after all that it depends on, else in the order of the file', () => {
  expect(names({ a: '[]', b: '[]', c: '[]' })).toEqual(['a', 'b', 'c'])
  expect(names({ web: '[api, db]', api: '[db]', db: '[]', log: '[]' })).toEqual([
    'db',
    'api',
    'web',
    'log',
  ])
})

test('each shows what to wait for', () => {
  const order = startOrder(
    file({
      web: '{db: {condition: service_healthy}, gone: {condition: service_started, required: false}}',
      db: '[]',
    }),
  )
  expect(order).toEqual([
    { service: 'db', waits: [] },
    {
      service: 'web',
      waits: [{ service: 'db', condition: 'service_healthy', restart: false, required: true }],
    },
  ])
})

test('services that wait for each other are refused by name', () => {
  expect(refusalOf(() => names({ a: '[b]', b: '[c]', c: '[b]' }))).toContain('b → c → b')
  expect(refusalOf(() => names({ a: '[a]' }))).toContain('a → a')
})
