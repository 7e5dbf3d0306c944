import { describe, expect, test } from 'bun:test'
import { inspectStages, rewriteDockerfile } from '../../../src/deployments/dockerfile/inspect.ts'
import type { StageReader } from '../../../src/deployments/dockerfile/inspect.ts'
import { keyOf } from '../../../src/deployments/base-images.ts'
import type { Base } from '../../../src/deployments/dockerfile/stages.ts'

const readerWith = (buildArgs: Record<string, string>, base?: Partial<Base>): StageReader => ({
  buildArgs,
  buildKit: true,
  heredocs: true,
  platform: 'linux/amd64',
  bases: { [keyOf({ image: 'base', platform: '' })]: { env: [], onBuild: [], ...base } },
})

const none = { images: {}, files: {} }

/** The lines after FROM as the engine gets them. */
function written(lines: string, buildArgs: Record<string, string> = {}, base?: Partial<Base>) {
  const text = /^\s*FROM/m.test(lines) ? lines : `FROM base\n${lines}`
  const reader = readerWith(buildArgs, base)
  expect(inspectStages(text, reader).isExpanded).toBe(true)
  return rewriteDockerfile(text, reader, none)
    .split('\n')
    .filter((line) => /^ADD/.test(line))
}

const codeOf = (lines: string, buildArgs = {}, base?: Partial<Base>) => {
  try {
    inspectStages(`FROM base\n${lines}`, readerWith(buildArgs, base))
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('an ADD with a variable', () => {
  const added: [string, string[], Record<string, string>?, Partial<Base>?][] = [
    ['ARG JAR=target/*.jar\nADD ${JAR} /app.jar', ['ADD target/*.jar /app.jar']],
    ['ARG JAR=a.jar\nADD $JAR /app.jar', ['ADD b.jar /app.jar'], { JAR: 'b.jar' }],
    ['ARG JAR\nADD "${JAR}" /x', ['ADD b.jar /x'], { JAR: 'b.jar' }],
    ['ARG JAR\nADD ["${JAR}", "/my app/x"]', ['ADD ["b.jar","/my app/x"]'], { JAR: 'b.jar' }],
    ['ADD ${JAR:-a.jar} /x', ['ADD a.jar /x'], { JAR: 'not declared' }],
    ['ENV V=1.2\nARG J=app-$V.jar\nADD $J b.txt $HOME/', ['ADD app-1.2.jar b.txt $HOME/']],
    ['ENV V 1.2\nADD --chown=1:1 app-${V}.tgz /', ['ADD --chown=1:1 app-1.2.tgz /']],
    ['ENV A=1 B=$A\nENV A=2 B=$A\nADD $A$B /', ['ADD 21 /']],
    ['ARG A=x\nENV A=y\nADD $A /', ['ADD y /']],
    ['ARG A=x\nADD $A /', ['ADD x /'], {}, { env: ['A=http://127.0.0.1/a', 'PATH=/bin'] }],
    ['ADD $A /', ['ADD y /'], {}, { env: ['A=y'] }],
    ['ADD $A /', ['ADD y /'], {}, { onBuild: ['ARG A=y'] }],
    ['ARG TARGETARCH\nADD bin-${TARGETARCH} /', ['ADD bin-amd64 /']],
    ['ARG A=x\nFROM base\nARG A\nADD $A /', ['ADD x /']],
    ['FROM base AS a\nENV A=x\nARG B=y\nFROM a\nADD $A$B /', ['ADD xy /']],
    ['FROM base AS a\nONBUILD ENV A=x\nFROM a\nADD $A /', ['ADD x /']],
    ['FROM base AS a\nENV A=x\nADD $A /\nFROM base\nENV A=y\nADD $A /', ['ADD x /', 'ADD y /']],
  ]
  test.each(added.map((one) => [one] as const))('%j is added', ([lines, expected, ...given]) => {
    expect(written(lines, ...given)).toEqual(expected)
  })

  const refused: [string, Record<string, string>?, Partial<Base>?][] = [
    ['ADD $X /x'],
    ['ADD a $X /x'],
    ['ARG X\nADD $X /x'],
    ['ARG X=\nADD $X /x'],
    ['ADD $X /x', { X: 'a' }],
    ['ADD $X /x\nARG X=a'],
    ['FROM base AS b\nARG X=a\nFROM base\nADD $X /x'],
    ['ARG X=http://127.0.0.1/a\nADD $X /x'],
    ['ARG X=127.0.0.1\nADD http://$X/a /x'],
    ['ARG X=a\nADD $X /x', { X: 'http://127.0.0.1/a' }],
    ['ADD $X /x', {}, { env: ['X=http://127.0.0.1/a'] }],
    ['ARG X=a Y=$X\nADD $Y /x'],
    ['ADD $X /x', {}, { onBuild: ['ENV X=git@127.0.0.1:a'] }],
    ['ARG X=git@127.0.0.1:a/b.git\nADD $X /x'],
    ['ARG X=a\\ b\nADD $X /x'],
    ['ARG X=\\$Y\nADD $X /x'],
    ['ARG X=--link\nADD $X /x'],
    ['ARG X=${Y%.jar}\nADD $X /x'],
    ['ARG X=a\nADD ${X#a} /x'],
    ['ARG X=<<E\nADD $X /x'],
    ['ARG X=a\nONBUILD ADD $X /x'],
  ]
  test.each(refused.map((one) => [one] as const))('%j is refused', (one) => {
    expect(codeOf(...one)).toBe('add_refused')
  })

  test('does not follow more variables than a file needs', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `ONBUILD ENV A${i}=`)
    const stages = Array.from({ length: 5000 }, () => 'FROM a')
    expect(codeOf(`FROM base AS a\n${[...many, ...stages].join('\n')}`)).toBe('dockerfile_too_hard')
  })
})

const exposing: [string, number[], Record<string, string>?][] = [
  ['EXPOSE 8080 443', [8080, 443]],
  ['EXPOSE 3001/tcp 53/udp\nEXPOSE 9229', [3001, 9229]],
  ['EXPOSE 8002-8004 80', [8002, 8003, 8004, 80]],
  ['ARG PORT=3000\nEXPOSE $PORT', [4000], { PORT: '4000' }],
  ['ENV PORTS="8080 443"\nEXPOSE $PORTS ${MORE:-90}/TCP', [8080, 443, 90]],
  ['EXPOSE $BASE_PORT 80', [7000, 80]],
  ['EXPOSE 1\nFROM base\nEXPOSE 2', [2]],
  ['EXPOSE 1\nFROM base AS a\nEXPOSE 2 3\nFROM a\nEXPOSE 4', [4, 2, 3]],
  ['ONBUILD EXPOSE 1\nEXPOSE 2', [2]],
  ['EXPOSE', []],
  ['EXPOSE x 99999999 80:90 9-1 1-65535', Array.from({ length: 20 }, (_, i) => i + 1)],
]
test.each(exposing.map((one) => [one] as const))('%j exposes', ([lines, ports, buildArgs = {}]) => {
  const reader = readerWith(buildArgs, { env: ['BASE_PORT=7000'] })
  expect(inspectStages(`FROM base\n${lines}`, reader).ports).toEqual(ports)
})
