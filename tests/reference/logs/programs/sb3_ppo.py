from stable_baselines3 import PPO
import sys
PPO("MlpPolicy", "CartPole-v1", verbose=1, n_steps=256, device="cpu").learn(total_timesteps=2048)
