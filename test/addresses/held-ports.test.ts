import { expect, test } from 'bun:test'
import { freeHostPort, refuseUsedPort } from '../../src/addresses/host-ports.ts'
import { placesOf } from '../../src/addresses/places.ts'
import { publishedAt, reservePort } from '../../src/runtime/endpoint-store.ts'
import { listLiveInstances } from '../../src/runtime/store.ts'
import { aComponent, aWorkload } from '../runtime/workload.ts'

test('what other edges reach on Davit’s own server has no port of an app there, nor gets any', async () => {
  const s = await aWorkload({ isSimulated: true })
  const { db, config, workload } = s
  await s.roll('one', { components: [aComponent('one', {})] })
  const [instance] = listLiveInstances(db, workload.id)
  db.$client.run('UPDATE environments SET host_port = 20000')
  reservePort(db, { instance: instance!, address: '198.51.100.1' })
  expect(publishedAt(db, instance!)?.port).toBe(20_001)

  const docker = { ...s.docker, remote: true }
  const places = placesOf({ db, config }, workload.ownerId)
  const choose = () => refuseUsedPort({ db, config, docker }, { ...places, port: 20_001 })
  expect(choose).toThrow(expect.objectContaining({ code: 'conflict' }))
  const others = Array.from({ length: 9_998 }, (_, at) => at + 20_002)
  const insert = db.$client.query(
    `INSERT INTO service_ports (service_id, position, target, container_port, protocol, port) VALUES (?, ?, 'web', 80, 'tcp', ?)`,
  )
  db.$client.run('PRAGMA foreign_keys = OFF')
  for (const port of others) insert.run('other', port, port)
  const find = () => freeHostPort({ db, config, docker }, places)
  expect(find).toThrow(expect.objectContaining({ code: 'conflict' }))
})
