import { expect, test } from 'bun:test'
import { inspectStages } from '../../../src/deployments/dockerfile/inspect.ts'
import { keyOf } from '../../../src/deployments/base-images.ts'
import { collect, sandbox } from '../../docker/sandbox.ts'
import { tarContext } from '../../support/images.ts'

const s = sandbox()
const platform = 'linux/amd64'

/** Dockerfiles after their first FROM, and build arguments; a port stands for the value of a variable. */
const files: [string, Record<string, string>?][] = [
  ['ARG A=1001\nARG A=1002\nEXPOSE $A'],
  ['ARG A=1001\nENV A=1002\nEXPOSE $A'],
  ['ARG A=1001\nENV A=1002\nARG A=1003\nEXPOSE $A'],
  ['ENV A=1001\nARG A\nEXPOSE $A', { A: '1009' }],
  ['ARG A=1001\nARG A\nEXPOSE ${A:-1005}'],
  ['ARG A=1001\nARG B=${A}2\nEXPOSE $B', { A: '1009' }],
  ['ENV A=1 B=${A:-7}\nENV A=2 C=${A}\nEXPOSE 100$B 100$C'],
  ['ENV A "1001 1002"\nEXPOSE $A'],
  ["ENV A='100''1' B=10\\01\nEXPOSE $A $B \"1003\" '1004'"],
  ['ENV A=1001\nEXPOSE ${A:+1002} ${B:+1003} ${B:-1004}'],
  ['EXPOSE 1001/tcp 1002/TCP 1003/udp 1004-1006'],
  ['ARG A=1001\nENV B=1002\nEXPOSE 1003\nFROM first\nEXPOSE ${A:-1009} $B'],
  ['ARG A=1001\nFROM first\nARG A\nEXPOSE ${A:-1009}'],
  ['ONBUILD ENV A=1001\nONBUILD EXPOSE 1005\nFROM first\nEXPOSE ${A:-1009}'],
  ['ONBUILD ARG A=1001\nFROM first AS second\nFROM second\nEXPOSE ${A:-1009}'],
  ['ARG A=1001\nFROM busybox\nEXPOSE ${A:-1009}'],
  ['EXPOSE ${TARGETARCH:-1001}'],
]

test.each(['buildkit', 'classic'] as const)(
  '%s exposes what is read of a file',
  async (builder) => {
    const { env } = (await s.docker.inspectImage('busybox'))!
    const bases = { [keyOf({ image: 'busybox', platform: '' })]: { env, onBuild: [] } }
    const reader = { buildKit: builder === 'buildkit', heredocs: false, platform, bases }
    for (const [lines, buildArgs = {}] of files) {
      const Dockerfile = `FROM busybox AS first\n${lines}`
      const { ports } = inspectStages(Dockerfile, { ...reader, buildArgs })
      const tag = s.tag()
      const context = tarContext({ Dockerfile })
      await collect(
        s.docker.buildImage({ context, dockerfile: 'Dockerfile', tag, builder, buildArgs }),
      )
      const exposed = (await s.docker.inspectImage(tag))!.exposedPorts
      expect({ lines, ports: ports.toSorted() }).toEqual({ lines, ports: exposed.toSorted() })
    }
  },
)
