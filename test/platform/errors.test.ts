import { expect, test } from 'bun:test'
import { conflictField, invalidField } from '../../src/platform/errors.ts'

test('a refused field is the subject of a message that has none', () => {
  for (const refuse of [invalidField, conflictField]) {
    const { message, fields } = refuse('sourceId', 'is a git source that doesn’t exist.')
    expect(message).toBe('sourceId is a git source that doesn’t exist.')
    expect(fields).toEqual([{ field: 'sourceId', message: 'is a git source that doesn’t exist.' }])
    expect(refuse('port', 'Port 80 is in use.').message).toBe('Port 80 is in use.')
  }
})
