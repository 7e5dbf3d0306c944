import type { Rule } from './explain.ts'

/** What an engine says when a container can not be made or started. */
export const startRules: Rule[] = [
  {
    seen: /port is already allocated|address already in use/i,
    code: 'port_in_use',
    message: ({ input, index }) => {
      const [address] = /[\d.:[\]a-f]{1,60}:\d{1,5}(?=[ :])/i.exec(lineBefore(input, index)) ?? []
      const named = address ? ` (${address})` : ''
      return `Starting: the port of the host${named} is in use by something else.`
    },
    hint: 'Stop what listens there, or give the environment another host port.',
  },
  {
    seen: /(?:exec: )?"?(?<![^\s":])([^\s":]+)"?: (?:executable file not found|stat [^:]+: no such file)/i,
    code: 'command_not_found',
    message: ([, command]) => `Starting: the command ${command} is not in the image.`,
    hint: 'Check CMD and ENTRYPOINT in the Dockerfile.',
  },
  {
    seen: /unable to find (user|group) ([^\s:]+)/i,
    code: 'unknown_user',
    message: ([, kind, name]) => `Starting: the image has no ${kind} ${name}.`,
    hint: 'Correct the USER line of the Dockerfile, or add the user in an earlier step.',
  },
  {
    seen: /permission denied/i,
    code: 'not_executable',
    message: () => 'Starting: the command of the image can not be executed.',
    hint: 'Give the file that CMD or ENTRYPOINT names the right to execute (chmod +x).',
  },
  {
    seen: /no command specified/i,
    code: 'no_command',
    message: () => 'Starting: the image has no command to run.',
    hint: 'Add a CMD or an ENTRYPOINT to the Dockerfile.',
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: () => 'Starting: the program in the image is for another processor architecture.',
    hint: 'Build for the architecture of this server, and check the first line of start scripts.',
  },
  {
    seen: /range of CPUs is from [\d.]+ to ([\d.]+)/i,
    code: 'too_many_cpus',
    message: ([, most]) =>
      `Starting: the server has ${Number(most)} processors, fewer than the environment asks for.`,
    hint: 'Lower the processors of the environment.',
  },
  {
    seen: /minimum memory limit|memory limit (?:too low|should be)/i,
    code: 'too_little_memory',
    message: () => 'Starting: the memory of the environment is less than a container needs.',
    hint: 'Raise the memory of the environment.',
  },
]

const lineBefore = (text: string, index: number) =>
  text.slice(text.lastIndexOf('\n', index) + 1, index)
