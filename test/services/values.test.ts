import { expect, test } from 'bun:test'
import { updateService } from '../../src/services/store.ts'
import { fillSecretValues } from '../../src/services/fill-secret-values.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { testApp } from '../support/app.ts'
import { everything } from '../support/everything.ts'

test('a service of an earlier version hides all it writes until its secrets are known', async () => {
  const t = testApp()
  const { service: id } = await everything(t, t.logIn('ada@example.com'))
  const file = {
    template: 'compose',
    compose: 'services: {a: {image: busybox, environment: {THE_TOKEN: "$THE_TOKEN"}}}',
  }
  const values = new Map([['THE_TOKEN', 'hunter2-of-the-service']])
  updateService(t.db, id, {
    ...file,
    ...sealValues(t, { id, values, file: { variables: new Map() } }),
    secretValues: null,
  })
  const shown = async (text: string) => (await t.deps.masks.of(id)).mask(text)

  expect(await shown('it is harmless')).toBe('***')
  await fillSecretValues(t)
  expect(await shown('it is harmless, not hunter2-of-the-service')).toBe('it is harmless, not ***')
})
