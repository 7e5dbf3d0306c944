import { expect, test } from 'bun:test'
import { refusedHere } from '../../src/edge/mode.ts'
import { freePort } from '../support/free-port.ts'

const place = (more: Partial<Parameters<typeof refusedHere>[0]> = {}) => ({
  apart: null,
  isContained: false,
  folder: '/var/lib/davit/edge',
  ports: { http: freePort(), https: freePort() },
  isRunning: false,
  ...more,
})

test('Caddy can run where its ports are free', async () => {
  expect(await refusedHere(place())).toBeNull()
})

test('where it can’t, the reason says so with what to do', async () => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const taken = { http: freePort(), https: server.port }
  const messageOf = async (more: Parameters<typeof place>[0]) =>
    (await refusedHere(place(more)))?.message
  expect(await messageOf({ ports: taken })).toMatch(
    // as the kernel names the program
    new RegExp(
      `^Domains and HTTPS are off, because bun\\S* on this server listens on port ${server.port}.$`,
    ),
  )
  expect(await messageOf({ ports: taken, isRunning: true })).toBeUndefined()
  expect(await messageOf({ apart: 'remote' })).toContain('Docker is on another machine')
  expect(await messageOf({ isContained: true })).toContain('Davit runs in a container')
  expect(await messageOf({ folder: `/${'x'.repeat(90)}` })).toContain('too long for a socket')
  server.stop(true)
})
