import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/index.ts'
import { users } from '../../src/db/schema.ts'
import { refuseDuplicate } from '../../src/db/failures.ts'
import { AppError } from '../../src/platform/errors.ts'

const db = openDatabase(':memory:')
const insert = () =>
  db.insert(users).values({ email: 'ada@example.com', role: 'admin' }).returning().get()

const failureOf = (duplicates: Parameters<typeof refuseDuplicate>[1]) => {
  try {
    return refuseDuplicate(insert, duplicates)
  } catch (error) {
    return error
  }
}

test('a duplicate is a conflict on the field of the index that it is in', () => {
  expect(refuseDuplicate(insert, {}).email).toBe('ada@example.com')
  const refusal = failureOf({ id: 'is taken.', email: 'is taken.' })
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({
    code: 'conflict',
    message: 'email is taken.',
    fields: [{ field: 'email', message: 'is taken.' }],
  })
  expect(failureOf({ email: ['address', 'is taken.'] })).toMatchObject({
    fields: [{ field: 'address' }],
  })
})

test('a duplicate in another index stays what it is', () => {
  expect(failureOf({ id: 'is taken.' })).not.toBeInstanceOf(AppError)
})
