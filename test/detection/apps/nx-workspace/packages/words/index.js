export const words = ['Hello, world']
