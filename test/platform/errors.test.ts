import { expect, test } from 'bun:test'
import { conflictField, invalidField } from '../../src/platform/errors.ts'

test('a refused field is the subject of a message that has none', () => {
  for (const refuse of [invalidField, conflictField]) {
    const { message, fields } = refuse('sourceId', 'names a git source that does not exist.')
    expect(message).toBe('sourceId names a git source that does not exist.')
    expect(fields).toEqual([
      { field: 'sourceId', message: 'names a git source that does not exist.' },
    ])
    expect(refuse('port', 'Port 80 is in use.').message).toBe('Port 80 is in use.')
  }
})
