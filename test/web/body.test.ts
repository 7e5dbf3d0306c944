import { expect, test } from 'bun:test'
import { camelCase, snakeCase } from '../../src/web/body.ts'

test('a field has one name in JSON and one in forms', () => {
  for (const [json, form] of [
    ['hostPort', 'host_port'],
    ['memoryMb', 'memory_mb'],
    ['name', 'name'],
  ] as const) {
    expect(snakeCase(json)).toBe(form)
    expect(camelCase(form)).toBe(json)
  }
})

test('the names of variables stay as they are', () => {
  for (const name of ['POSTGRES_PASSWORD', 'GITEA__server__DOMAIN', 'A1', 'url'])
    expect(snakeCase(name)).toBe(name)
})
