import { expect, test } from 'bun:test'
import { escapeOf, syntaxesOf } from '../../../src/deployments/dockerfile/directives.ts'
import {
  argumentsOf,
  flagValues,
  readDockerfile,
  readingsOf,
} from '../../../src/deployments/dockerfile/instructions.ts'
import type { Dialect } from '../../../src/deployments/dockerfile/instructions.ts'
import { csvFields, mountOptions } from '../../../src/deployments/dockerfile/words.ts'

type Options = Partial<Dialect> & { lenient?: boolean }

const read = (lines: string[], { lenient = false, ...dialect }: Options = {}) => {
  const text = lines.join('\n')
  const today = { heredocs: true, doubledContinues: false, escape: escapeOf(text, { lenient }) }
  return readDockerfile(text, { ...today, ...dialect }).instructions
}
const names = (lines: string[], options: Options = {}) =>
  read(lines, options).map(({ name, text }) => `${name} ${text}`)

test('instructions are read in any case, with the line that they begin on', () => {
  const found = read(['\uFEFF# a comment', '', '  from a', 'RUN  b  \r', '\tCmd ["c"]'])
  expect(found.map(({ name, text, line }) => [name, text, line])).toEqual([
    ['FROM', 'a', 3],
    ['RUN', 'b', 4],
    ['CMD', '["c"]', 5],
  ])
})

test('continued lines are one, without the comments and empty lines between them', () => {
  expect(names(['RUN a \\', '  # no', '', '  && b \\  ', '\\', '&& c', 'CMD d'])).toEqual([
    'RUN a   && b && c',
    'CMD d',
  ])
  expect(names(['# a comment \\', 'RUN a'])).toEqual(['RUN a'])
  expect(names(['RUN a \\'])).toEqual(['RUN a'])
})

test('the escape directive says what continues a line', () => {
  expect(names(['# escape=`', 'RUN a `', 'b', 'RUN c \\', 'CMD d'])).toEqual([
    'RUN a b',
    'RUN c \\',
    'CMD d',
  ])
  expect(names(['#\tESCAPE = `', 'RUN a `', 'b'])).toEqual(['RUN a b'])
  expect(names(['', '# escape=`', 'RUN a `', 'CMD b'])).toEqual(['RUN a `', 'CMD b'])
  const behind = ['# note=1', '# escape=`', 'RUN a `', 'CMD b']
  expect(names(behind)).toEqual(['RUN a `', 'CMD b'])
  expect(names(behind, { lenient: true })).toEqual(['RUN a CMD b'])
})

test('two escape characters continue a line for older engines alone', () => {
  const lines = ['RUN echo \\\\', 'ADD a b']
  expect(names(lines)).toEqual(['RUN echo \\\\', 'ADD a b'])
  expect(names(lines, { doubledContinues: true })).toEqual(['RUN echo \\ADD a b'])
})

test('a heredoc is no instruction, for engines that know them', () => {
  const lines = ['RUN <<EOF cat - <<-"END X"', 'ADD a b', 'EOF', '\tADD c d', '\tEND X', 'CMD e']
  const [run, cmd] = read(lines)
  expect(run!.heredocs).toEqual([
    { name: 'EOF', expand: true, text: 'ADD a b' },
    { name: 'END X', expand: false, text: '\tADD c d' },
  ])
  expect(cmd).toMatchObject({ name: 'CMD', line: 6 })
  expect(names(lines, { heredocs: false })).toContain('ADD a b')
  expect(names(['COPY << EOF /x', 'ADD a b', 'EOF', 'CMD e'])).toEqual(['COPY << EOF /x', 'CMD e'])
  expect(names(['RUN echo "<<EOF"', 'CMD e'])).toHaveLength(2)
  expect(names(['RUN ["a", "<<EOF"]', 'CMD e'])).toHaveLength(2)
  expect(names(['LABEL a=<<EOF', 'CMD e'])).toHaveLength(2)
  expect(names(['ONBUILD RUN <<EOF', 'ADD a b', 'EOF', 'CMD e'])).toHaveLength(2)
})

test('what engines read differently is read in each way', () => {
  expect(readingsOf('FROM a\nRUN b')).toHaveLength(1)
  const hidden = ['RUN <<"RUN true"', 'ADD a b', 'RUN true']
  const found = readingsOf(hidden.join('\n')).flatMap(({ instructions }) => instructions)
  expect(found.map(({ name }) => name)).toContain('ADD')
  expect(readingsOf('RUN a \\\\\nADD b c')).toHaveLength(2)
  expect(readingsOf('# note=1\n# escape=`\nRUN a')).toHaveLength(2)
})

test('what ONBUILD holds is an instruction of its own', () => {
  expect(read(['onbuild onbuild ADD --chown=1 a b'])).toMatchObject([
    { name: 'ADD', onbuild: true, flags: ['--chown=1'], text: 'a b' },
  ])
  expect(read(['ONBUILD'])).toMatchObject([{ name: 'ONBUILD', onbuild: false, text: '' }])
})

test('flags are read without their quotes and escapes', () => {
  const [copy] = read(['COPY --fr"om"=a\\ b  --chmod=1 \\', ' --from=c "d e" --from=f'])
  expect(flagValues(copy!, 'from')).toEqual(['a b', 'c'])
  expect(copy!.text).toBe('"d e" --from=f')
  expect(read(['RUN -- --from=a'])[0]).toMatchObject({ flags: [], text: '--from=a' })
})

test('arguments are words, or what a JSON list holds', () => {
  expect(argumentsOf({ text: 'a  "b c"\td' })).toEqual(['a', '"b', 'c"', 'd'])
  expect(argumentsOf({ text: '["a b", "htt\\u0070:"]' })).toEqual(['a b', 'http:'])
  expect(argumentsOf({ text: '[a, b]' })).toEqual(['[a,', 'b]'])
})

test('a mount is CSV, its keys in any case', () => {
  expect(csvFields('a,"b,c","d""e",')).toEqual(['a', 'b,c', 'd"e', ''])
  expect(csvFields('a"b')).toBeNull()
  expect(csvFields('"a')).toBeNull()
  expect(mountOptions('type=bind,"FROM=a,b",ro')).toEqual(
    new Map([
      ['type', 'bind'],
      ['from', 'a,b'],
      ['ro', ''],
    ]),
  )
})

test('a syntax is found wherever an engine looks for one', () => {
  expect(syntaxesOf('# syntax=docker/dockerfile:1\nFROM a')).toEqual(['docker/dockerfile:1'])
  expect(syntaxesOf('\uFEFF#SYNTAX = a/b  \r\nFROM a')).toEqual(['a/b'])
  expect(syntaxesOf('#!/bin/x\n// syntax=a\nFROM a')).toEqual(['a'])
  expect(syntaxesOf('# note=1\n# syntax=a')).toEqual(['a'])
  expect(syntaxesOf('{"syntax": "a"}')).toEqual(['a'])
  expect(syntaxesOf('FROM a\n# syntax=b')).toEqual([])
})
